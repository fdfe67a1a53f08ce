#pragma once
#include "Modules/ModuleManager.h"
template <class T> class TSharedPtr
{
public:
    bool IsValid() const { return false; }
    T* operator->() const { return nullptr; }
};
class IPlugin
{
public:
    virtual const FString& GetBaseDir() const = 0;
};
class IPluginManager
{
public:
    static IPluginManager& Get();
    virtual TSharedPtr<IPlugin> FindPlugin(const FString& name) = 0;
};

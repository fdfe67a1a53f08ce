// What the module uses of Unreal Engine 5, as "Unreal Engine C++ API Reference" (dev.epicgames.com) declares it.
#pragma once
#include <string>
#define TEXT(x) L##x
using TCHAR = wchar_t;
struct FString
{
    FString(const TCHAR* text) : value(text) {}
    std::wstring value;
};
class IModuleInterface
{
public:
    virtual ~IModuleInterface() {}
    virtual void StartupModule() {}
    virtual void ShutdownModule() {}
};
#define IMPLEMENT_MODULE(Class, Name) IModuleInterface* Initialize##Name() { return new Class(); }

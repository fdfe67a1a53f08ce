#pragma once
#include "Modules/ModuleManager.h"
class FPaths
{
public:
    template <typename... PathTypes> static FString Combine(PathTypes&&... paths) { return FString(L""); }
};

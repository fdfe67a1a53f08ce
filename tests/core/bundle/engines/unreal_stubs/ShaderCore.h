#pragma once
#include "Modules/ModuleManager.h"
extern void AddShaderSourceDirectoryMapping(const FString& virtualDirectory, const FString& realDirectory);

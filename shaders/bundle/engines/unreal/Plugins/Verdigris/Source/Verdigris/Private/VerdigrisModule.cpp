// SPDX-License-Identifier: Apache-2.0
#include "Interfaces/IPluginManager.h"
#include "Misc/Paths.h"
#include "Modules/ModuleManager.h"
#include "ShaderCore.h"

/** Gives custom nodes the folder Shaders of the plug-in as /Plugin/Verdigris. */
class FVerdigrisModule final : public IModuleInterface
{
public:
	virtual void StartupModule() override
	{
		const TSharedPtr<IPlugin> Plugin = IPluginManager::Get().FindPlugin(TEXT("Verdigris"));
		if (Plugin.IsValid())
		{
			AddShaderSourceDirectoryMapping(
				TEXT("/Plugin/Verdigris"), FPaths::Combine(Plugin->GetBaseDir(), TEXT("Shaders")));
		}
	}
};

IMPLEMENT_MODULE(FVerdigrisModule, Verdigris)

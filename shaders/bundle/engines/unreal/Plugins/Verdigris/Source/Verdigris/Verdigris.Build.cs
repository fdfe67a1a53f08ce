// SPDX-License-Identifier: Apache-2.0
using UnrealBuildTool;

public class Verdigris : ModuleRules
{
	public Verdigris(ReadOnlyTargetRules Target) : base(Target)
	{
		PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
		PrivateDependencyModuleNames.AddRange(new string[] { "Core", "Projects", "RenderCore" });
	}
}

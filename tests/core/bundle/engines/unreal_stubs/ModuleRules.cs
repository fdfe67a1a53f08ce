// As "Module Properties in Unreal Engine" (dev.epicgames.com) describes them.
using System.Collections.Generic;

namespace UnrealBuildTool
{
    public class ReadOnlyTargetRules { }

    public class ModuleRules
    {
        public enum PCHUsageMode { Default, NoPCHs, NoSharedPCHs, UseSharedPCHs, UseExplicitOrSharedPCHs }
        public ModuleRules(ReadOnlyTargetRules Target) { }
        public PCHUsageMode PCHUsage;
        public List<string> PrivateDependencyModuleNames = new List<string>();
    }
}

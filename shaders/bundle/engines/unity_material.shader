// The neural materials of this architecture, written by Verdigris @VERSION@ for the Universal Render Pipeline.
Shader "Verdigris/@SHADER@"
{
    Properties
    {
        [NoScaleOffset] _NeuralLatents ("Latents", 2DArray) = "" {}
        [NoScaleOffset] _NeuralNumbers ("Numbers", 2D) = "black" {}
        [NoScaleOffset] _NeuralBase ("Mean albedo and roughness", 2D) = "gray" {}
        [NoScaleOffset] _NeuralNormal ("Mean normal", 2D) = "bump" {}
        [NoScaleOffset] _NeuralEmission ("Emission", 2D) = "black" {}
        [NoScaleOffset] _NeuralOpacity ("Opacity", 2D) = "white" {}
@if relief
        [NoScaleOffset] _NeuralHeights ("Heights", 2D) = "black" {}
        [HideInInspector] _NeuralRange ("Scale and midlevel, width and height", Vector) = (1, 0, 1, 1)
@end
@if leaf
        [NoScaleOffset] _NeuralTransmitted ("Transmitted albedo", 2D) = "black" {}
@end
@if clear
        [NoScaleOffset] _NeuralTransmitted ("Transmitted albedo", 2D) = "black" {}
        _NeuralIndex ("Index of refraction", Float) = 1
@end
        _NeuralTiling ("Tiling and offset", Vector) = (1, 1, 0, 0)
        _NeuralLive ("Live inputs, from 0 to 1", Vector) = (0, 0, 0, 0)
        [HideInInspector] _NeuralSize ("Width and height", Vector) = (1, 1, 0, 0)
        [HideInInspector] _NeuralScale0 ("Scale", Vector) = (1, 1, 1, 1)
        [HideInInspector] _NeuralScale1 ("Scale", Vector) = (1, 1, 1, 1)
        [HideInInspector] _NeuralOffset0 ("Offset", Vector) = (0, 0, 0, 0)
        [HideInInspector] _NeuralOffset1 ("Offset", Vector) = (0, 0, 0, 0)
        [Enum(UnityEngine.Rendering.CullMode)] _Cull ("Cull", Float) = @CULL@
    }
    SubShader
    {
        Tags { "RenderType" = "@RENDER_TYPE@" "Queue" = "@QUEUE@" "RenderPipeline" = "UniversalPipeline" }
        Cull [_Cull]

        HLSLINCLUDE
        #pragma target 4.5
        #include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Core.hlsl"
        #include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Lighting.hlsl"
        #include "Packages/com.unity.render-pipelines.universal/ShaderLibrary/Shadows.hlsl"

        TEXTURE2D_ARRAY(_NeuralLatents); SAMPLER(sampler_NeuralLatents);
        TEXTURE2D(_NeuralNumbers);
        TEXTURE2D(_NeuralBase); SAMPLER(sampler_NeuralBase);
        TEXTURE2D(_NeuralNormal); SAMPLER(sampler_NeuralNormal);
        TEXTURE2D(_NeuralEmission); SAMPLER(sampler_NeuralEmission);
        TEXTURE2D(_NeuralOpacity); SAMPLER(sampler_NeuralOpacity);
@if relief
        TEXTURE2D(_NeuralHeights);
@end
@if leaf
        TEXTURE2D(_NeuralTransmitted); SAMPLER(sampler_NeuralTransmitted);
@end
@if clear
        TEXTURE2D(_NeuralTransmitted); SAMPLER(sampler_NeuralTransmitted);
@end
        CBUFFER_START(UnityPerMaterial)
        float4 _NeuralSize;
        float4 _NeuralTiling;
        float4 _NeuralLive;
        float4 _NeuralScale0;
        float4 _NeuralScale1;
        float4 _NeuralOffset0;
        float4 _NeuralOffset1;
@if relief
        float4 _NeuralRange;
@end
@if clear
        float _NeuralIndex;
@end
        float _Cull;
        CBUFFER_END

        #define VERDIGRIS_URP
        #include "Packages/com.verdigris.material/Shaders/@SHADER@.hlsl"
@if plain
        #include "Packages/com.verdigris.material/Shaders/NeuralUrp.hlsl"
@else
        #include "Packages/com.verdigris.material/Shaders/@SHADER@_urp.hlsl"
@end
        ENDHLSL

        Pass
        {
            Name "Forward"
            Tags { "LightMode" = "UniversalForwardOnly" }
            @BLEND@
            HLSLPROGRAM
            #pragma vertex NeuralVertex
            #pragma fragment NeuralFragment
            #pragma multi_compile _ _MAIN_LIGHT_SHADOWS _MAIN_LIGHT_SHADOWS_CASCADE _MAIN_LIGHT_SHADOWS_SCREEN
            #pragma multi_compile _ _ADDITIONAL_LIGHTS
            #pragma multi_compile _ _ADDITIONAL_LIGHT_SHADOWS
            #pragma multi_compile _ _FORWARD_PLUS _CLUSTER_LIGHT_LOOP
            #pragma multi_compile_fragment _ _SHADOWS_SOFT
            #pragma multi_compile_instancing
            ENDHLSL
        }
        Pass
        {
            Name "ShadowCaster"
            Tags { "LightMode" = "ShadowCaster" }
            ColorMask 0
            HLSLPROGRAM
            #pragma vertex NeuralShadowVertex
            #pragma fragment NeuralDepthFragment
            #pragma multi_compile_vertex _ _CASTING_PUNCTUAL_LIGHT_SHADOW
            #pragma multi_compile_instancing
            ENDHLSL
        }
        Pass
        {
            Name "DepthOnly"
            Tags { "LightMode" = "DepthOnly" }
            ColorMask R
            HLSLPROGRAM
            #pragma vertex NeuralDepthVertex
            #pragma fragment NeuralDepthFragment
            #pragma multi_compile_instancing
            ENDHLSL
        }
    }
}

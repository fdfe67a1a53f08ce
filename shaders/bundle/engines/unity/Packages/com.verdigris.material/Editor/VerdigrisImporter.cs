// SPDX-License-Identifier: Apache-2.0
using System;
using System.IO;
using System.IO.Compression;
using System.Text;
using UnityEditor;
using UnityEditor.AssetImporters;
using UnityEngine;
using UnityEngine.Experimental.Rendering;

namespace Verdigris.Editor
{
    /// <summary>Imports NAME.verdigris, a zip that `verdigris export --target unity` writes, as a material.</summary>
    [ScriptedImporter(1, "verdigris")]
    public sealed class VerdigrisImporter : ScriptedImporter
    {
        const int Version = 1;
        const string Shaders = "Packages/com.verdigris.material/Shaders/";

        [Serializable]
        sealed class Entry
        {
            public string file = "";
            public string format = "";
            public int width = 0;
            public int height = 0;
            public int layers = 0;
            public int levels = 0;
        }

        [Serializable]
        sealed class Passing
        {
            public float index = 0;
            public bool diffuse = false;
        }

        // JsonUtility leaves what the file does not have at these values
        [Serializable]
        sealed class Facts
        {
            public string format = "";
            public int version = 0;
            public string name = "";
            public string shader = "";
            public float[] scale = Array.Empty<float>();
            public float[] offset = Array.Empty<float>();
            public float[] tiling = Array.Empty<float>();
            public LiveInput[] live = Array.Empty<LiveInput>();
            public Entry latents = new Entry();
            public Entry numbers = new Entry();
            public Entry @base = new Entry();
            public Entry normal = new Entry();
            public Entry emission = new Entry();
            public Entry opacity = new Entry();
            public Entry heights = new Entry();
            public Entry transmitted = new Entry();
            public float[] range = Array.Empty<float>();
            public Passing passing = new Passing();
        }

        public override void OnImportAsset(AssetImportContext context)
        {
            using (ZipArchive archive = ZipFile.OpenRead(context.assetPath))
            {
                var facts = JsonUtility.FromJson<Facts>(Encoding.UTF8.GetString(Read(archive, "material.json")));
                if (facts.format != "verdigris.engine" || facts.version != Version)
                {
                    context.LogImportError(
                        $"{context.assetPath}: has version {facts.version} of {facts.format}, and this package reads "
                            + $"{Version} of verdigris.engine: export it again, with its package");
                    return;
                }
                string shaderPath = Shaders + facts.shader + ".shader";
                context.DependsOnArtifact(shaderPath);
                var shader = AssetDatabase.LoadAssetAtPath<Shader>(shaderPath);
                if (shader == null)
                {
                    context.LogImportError($"{context.assetPath}: copy {shaderPath} from the export, too");
                    return;
                }
                var material = new Material(shader) { name = facts.name };
                Add(context, material, "_NeuralBase", MakeTexture(archive, facts.@base, true));
                Add(context, material, "_NeuralNormal", MakeTexture(archive, facts.normal, false));
                Add(context, material, "_NeuralNumbers", MakeTexture(archive, facts.numbers, false));
                if (facts.emission.width > 0)
                {
                    Add(context, material, "_NeuralEmission", MakeTexture(archive, facts.emission, false));
                }
                if (facts.opacity.width > 0)
                {
                    Add(context, material, "_NeuralOpacity", MakeTexture(archive, facts.opacity, false));
                }
                if (facts.heights.width > 0)
                {
                    Add(context, material, "_NeuralHeights", MakeTexture(archive, facts.heights, false));
                    material.SetVector(
                        "_NeuralRange",
                        new Vector4(facts.range[0], facts.range[1], facts.heights.width, facts.heights.height));
                }
                if (facts.transmitted.width > 0)
                {
                    Add(context, material, "_NeuralTransmitted", MakeTexture(archive, facts.transmitted, true));
                    if (!facts.passing.diffuse)
                    {
                        material.SetFloat("_NeuralIndex", facts.passing.index);
                    }
                }
                Add(context, material, "_NeuralLatents", MakeArray(archive, facts.latents));
                material.SetVector("_NeuralSize", new Vector4(facts.latents.width, facts.latents.height, 0, 0));
                for (int quad = 0; quad < 2; quad++)
                {
                    material.SetVector("_NeuralScale" + quad, Quad(facts.scale, quad));
                    material.SetVector("_NeuralOffset" + quad, Quad(facts.offset, quad));
                }
                material.SetVector("_NeuralTiling", Quad(facts.tiling, 0));
                Vector4 live = Vector4.zero;
                for (int index = 0; index < facts.live.Length; index++)
                {
                    live[index] = facts.live[index].@default;
                }
                material.SetVector("_NeuralLive", live);
                var inputs = ScriptableObject.CreateInstance<NeuralMaterial>();
                inputs.name = facts.name + " inputs";
                inputs.material = material;
                inputs.liveInputs = facts.live;
                context.AddObjectToAsset("inputs", inputs);
                context.AddObjectToAsset("material", material);
                context.SetMainObject(material);
            }
        }

        static void Add(AssetImportContext context, Material material, string property, Texture texture)
        {
            texture.name = property;
            context.AddObjectToAsset(property, texture);
            material.SetTexture(property, texture);
        }

        static Vector4 Quad(float[] values, int quad)
        {
            return new Vector4(values[4 * quad], values[4 * quad + 1], values[4 * quad + 2], values[4 * quad + 3]);
        }

        static byte[] Read(ZipArchive archive, string file)
        {
            ZipArchiveEntry entry = archive.GetEntry(file);
            if (entry == null)
            {
                throw new InvalidDataException($"{file} is missing: export the material again");
            }
            using (Stream stream = entry.Open())
            using (var memory = new MemoryStream())
            {
                stream.CopyTo(memory);
                return memory.ToArray();
            }
        }

        static GraphicsFormat FormatOf(Entry entry, bool isColor)
        {
            switch (entry.format)
            {
                case "bc7":
                    return GraphicsFormat.RGBA_BC7_UNorm;
                case "rgba8":
                    return isColor ? GraphicsFormat.R8G8B8A8_SRGB : GraphicsFormat.R8G8B8A8_UNorm;
                case "rgba16f":
                    return GraphicsFormat.R16G16B16A16_SFloat;
                case "r8":
                    return GraphicsFormat.R8_UNorm;
                default:
                    throw new InvalidDataException($"{entry.file}: its format {entry.format} is unknown: update the package");
            }
        }

        static int BytesOf(Entry entry, int level)
        {
            int width = Math.Max(entry.width >> level, 1);
            int height = Math.Max(entry.height >> level, 1);
            switch (entry.format)
            {
                case "bc7":
                    return 16 * ((width + 3) / 4) * ((height + 3) / 4);
                case "rgba16f":
                    return 8 * width * height;
                case "r8":
                    return width * height;
                default:
                    return 4 * width * height;
            }
        }

        static Texture2D MakeTexture(ZipArchive archive, Entry entry, bool isColor)
        {
            byte[] data = Read(archive, entry.file);
            bool isNumbers = entry.levels == 1 && entry.format == "rgba16f";
            var texture = new Texture2D(
                entry.width, entry.height, FormatOf(entry, isColor), entry.levels, TextureCreationFlags.MipChain);
            texture.wrapMode = TextureWrapMode.Repeat;
            texture.filterMode = isNumbers ? FilterMode.Point : FilterMode.Trilinear;
            for (int level = 0, start = 0; level < entry.levels; start += BytesOf(entry, level), level++)
            {
                texture.SetPixelData(data, level, start);
            }
            // the levels are those of the file
            texture.Apply(false, true);
            return texture;
        }

        static Texture2DArray MakeArray(ZipArchive archive, Entry entry)
        {
            byte[] data = Read(archive, entry.file);
            var texture = new Texture2DArray(
                entry.width, entry.height, entry.layers, FormatOf(entry, false), TextureCreationFlags.MipChain, entry.levels);
            texture.wrapMode = TextureWrapMode.Repeat;
            texture.filterMode = FilterMode.Trilinear;
            texture.anisoLevel = 0;
            int start = 0;
            for (int layer = 0; layer < entry.layers; layer++)
            {
                for (int level = 0; level < entry.levels; level++)
                {
                    texture.SetPixelData(data, level, layer, start);
                    start += BytesOf(entry, level);
                }
            }
            texture.Apply(false, true);
            return texture;
        }
    }
}

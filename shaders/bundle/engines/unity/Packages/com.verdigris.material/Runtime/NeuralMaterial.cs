// SPDX-License-Identifier: Apache-2.0
using System;
using UnityEngine;

namespace Verdigris
{
    /// <summary>An input of the material that stayed open in its neural material.</summary>
    [Serializable]
    public struct LiveInput
    {
        public string name;
        public float low;
        public float high;
        public float @default;
    }

    /// <summary>What a .verdigris file holds beside its material: the names and ranges of its live inputs.</summary>
    public sealed class NeuralMaterial : ScriptableObject
    {
        static readonly int Live = Shader.PropertyToID("_NeuralLive");

        public Material material;
        public LiveInput[] liveInputs = Array.Empty<LiveInput>();

        /// <summary>Sets a live input in its own units. It changes without a compilation.</summary>
        /// <param name="target">a material that was made of this one; by default the imported one</param>
        public void SetLive(string input, float value, Material target = null)
        {
            int index = Array.FindIndex(liveInputs, each => each.name == input);
            if (index < 0)
            {
                throw new ArgumentException($"{name} has no live input {input}");
            }
            Material chosen = target == null ? material : target;
            Vector4 values = chosen.GetVector(Live);
            values[index] = Mathf.InverseLerp(liveInputs[index].low, liveInputs[index].high, value);
            chosen.SetVector(Live, values);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;

namespace Verdigris.Editor
{
    /// <summary>A scene to look at an imported material: a large sphere under a sun.</summary>
    static class VerdigrisExample
    {
        const string Menu = "Assets/Create/Verdigris Example Scene";

        [MenuItem(Menu)]
        static void Make()
        {
            var material = Selection.activeObject as Material;
            if (!EditorSceneManager.SaveCurrentModifiedScenesIfUserWantsTo())
            {
                return;
            }
            // with a camera at (0, 1, -10) that looks along z, and a directional light
            EditorSceneManager.NewScene(NewSceneSetup.DefaultGameObjects);
            GameObject sphere = GameObject.CreatePrimitive(PrimitiveType.Sphere);
            sphere.name = material.name;
            sphere.transform.position = new Vector3(0, 1, 0);
            sphere.transform.localScale = new Vector3(8, 8, 8);
            sphere.GetComponent<Renderer>().sharedMaterial = material;
            Selection.activeObject = sphere;
        }

        [MenuItem(Menu, true)]
        static bool CanMake()
        {
            Object chosen = Selection.activeObject;
            return chosen is Material && AssetDatabase.GetAssetPath(chosen).EndsWith(".verdigris");
        }
    }
}

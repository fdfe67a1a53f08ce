// What the package for Unity uses of Unity 6000.0 and of .NET's System.IO.Compression, with the published signatures:
// docs.unity3d.com/6000.0/Documentation/ScriptReference (the page of each class), learn.microsoft.com/dotnet/api.
using System;
using System.IO;

namespace System.IO.Compression
{
    public class ZipArchive : IDisposable
    {
        public ZipArchiveEntry GetEntry(string entryName) { return null; }
        public void Dispose() { }
    }

    public class ZipArchiveEntry
    {
        public Stream Open() { return null; }
    }

    public static class ZipFile
    {
        public static ZipArchive OpenRead(string archiveFileName) { return null; }
    }
}

namespace UnityEngine
{
    public class Object
    {
        public string name { get; set; }
        public static bool operator ==(Object x, Object y) { return ReferenceEquals(x, y); }
        public static bool operator !=(Object x, Object y) { return !ReferenceEquals(x, y); }
        public override bool Equals(object other) { return ReferenceEquals(this, other); }
        public override int GetHashCode() { return 0; }
    }

    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject { return null; }
    }

    public sealed class Shader : Object
    {
        public static int PropertyToID(string name) { return 0; }
    }

    public class Material : Object
    {
        public Material(Shader shader) { }
        public Vector4 GetVector(int nameID) { return Vector4.zero; }
        public void SetFloat(string name, float value) { }
        public void SetVector(string name, Vector4 value) { }
        public void SetVector(int nameID, Vector4 value) { }
        public void SetTexture(string name, Texture value) { }
    }

    public struct Vector4
    {
        public float x, y, z, w;
        public Vector4(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static Vector4 zero { get { return new Vector4(0, 0, 0, 0); } }
        public float this[int index] { get { return x; } set { x = value; } }
    }

    public struct Mathf
    {
        public static float InverseLerp(float a, float b, float value) { return value; }
    }

    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
    }

    public class Component : Object { }

    public class Transform : Component
    {
        public Vector3 position { get; set; }
        public Vector3 localScale { get; set; }
    }

    public class Renderer : Component
    {
        public Material sharedMaterial { get; set; }
    }

    public enum PrimitiveType { Sphere, Capsule, Cylinder, Cube, Plane, Quad }

    public sealed class GameObject : Object
    {
        public static GameObject CreatePrimitive(PrimitiveType type) { return null; }
        public Transform transform { get { return null; } }
        public T GetComponent<T>() { return default(T); }
    }

    public enum TextureWrapMode { Repeat, Clamp, Mirror, MirrorOnce }

    public enum FilterMode { Point, Bilinear, Trilinear }

    public class Texture : Object
    {
        public TextureWrapMode wrapMode { get; set; }
        public FilterMode filterMode { get; set; }
        public int anisoLevel { get; set; }
    }

    public sealed class Texture2D : Texture
    {
        public Texture2D(int width, int height, Experimental.Rendering.GraphicsFormat format, int mipCount,
            Experimental.Rendering.TextureCreationFlags flags) { }
        public void SetPixelData<T>(T[] data, int mipLevel, int sourceDataStartIndex = 0) { }
        public void Apply(bool updateMipmaps = true, bool makeNoLongerReadable = false) { }
    }

    public sealed class Texture2DArray : Texture
    {
        public Texture2DArray(int width, int height, int depth, Experimental.Rendering.GraphicsFormat format,
            Experimental.Rendering.TextureCreationFlags flags, int mipCount) { }
        public void SetPixelData<T>(T[] data, int mipLevel, int element, int sourceDataStartIndex = 0) { }
        public void Apply(bool updateMipmaps = true, bool makeNoLongerReadable = false) { }
    }

    public static class JsonUtility
    {
        public static T FromJson<T>(string json) { return default(T); }
    }
}

namespace UnityEngine.Experimental.Rendering
{
    public enum GraphicsFormat
    {
        None = 0, R8G8B8A8_SRGB = 4, R8_UNorm = 5, R8G8B8A8_UNorm = 8, R16G16B16A16_SFloat = 48, RGBA_BC7_SRGB = 106,
        RGBA_BC7_UNorm = 107
    }

    [Flags]
    public enum TextureCreationFlags { None = 0, MipChain = 1, DontInitializePixels = 4 }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene { }
}

namespace UnityEditor.SceneManagement
{
    public enum NewSceneSetup { EmptyScene, DefaultGameObjects }

    public enum NewSceneMode { Single, Additive }

    public sealed class EditorSceneManager
    {
        public static UnityEngine.SceneManagement.Scene NewScene(NewSceneSetup setup,
            NewSceneMode mode = NewSceneMode.Single) { return default(UnityEngine.SceneManagement.Scene); }
        public static bool SaveCurrentModifiedScenesIfUserWantsTo() { return true; }
    }
}

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string itemName) { }
        public MenuItem(string itemName, bool isValidateFunction) { }
    }

    public sealed class Selection
    {
        public static UnityEngine.Object activeObject { get; set; }
    }

    public sealed class AssetDatabase
    {
        public static string GetAssetPath(UnityEngine.Object assetObject) { return ""; }
        public static T LoadAssetAtPath<T>(string assetPath) where T : UnityEngine.Object { return null; }
    }
}

namespace UnityEditor.AssetImporters
{
    [AttributeUsage(AttributeTargets.Class)]
    public class ScriptedImporterAttribute : Attribute
    {
        public ScriptedImporterAttribute(int version, string ext) { }
    }

    public abstract class ScriptedImporter : UnityEngine.Object
    {
        public abstract void OnImportAsset(AssetImportContext ctx);
    }

    public class AssetImportContext
    {
        public string assetPath { get { return ""; } }
        public void AddObjectToAsset(string identifier, UnityEngine.Object obj) { }
        public void SetMainObject(UnityEngine.Object obj) { }
        public void DependsOnArtifact(string path) { }
        public void LogImportError(string msg, UnityEngine.Object obj = null) { }
    }
}

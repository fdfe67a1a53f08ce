#version 450
// Built-ins as "Spatial shaders" of Godot's manual (4.3) declares them; textures of proxies and maps are constants,
// derivatives are those of the query.
layout(local_size_x = 64) in;
layout(binding = 0) uniform Count { uint count; };
struct Query { vec4 place; vec4 wi; vec4 wo; vec4 live; };
layout(std430, binding = 1) readonly buffer Queries { Query queries[]; };
layout(std430, binding = 2) buffer Answers { float answers[]; };
layout(std430, binding = 3) readonly buffer Numbers { vec4 numbers[]; };
// all levels, each layer after layer: software devices fetch with one level for four threads
layout(std430, binding = 4) readonly buffer Texels { vec4 texels[]; };
const ivec3 kSize = ivec3(@WIDTH@, @HEIGHT@, @LAYERS@);
const float PI = 3.1415926535897932384626433832795;
vec3 VERTEX, NORMAL, VIEW, ALBEDO, EMISSION, LIGHT, LIGHT_COLOR, DIFFUSE_LIGHT, SPECULAR_LIGHT;
vec2 UV;
const bool OUTPUT_IS_SRGB = false;
float ROUGHNESS, METALLIC, ALPHA, ATTENUATION;
vec2 uvX, uvY;
vec3 vertexX, vertexY;
vec2 derivativeX(vec2 at) { return uvX; }
vec2 derivativeY(vec2 at) { return uvY; }
vec3 derivativeX(vec3 at) { return vertexX; }
vec3 derivativeY(vec3 at) { return vertexY; }
const int neural_numbers = 0, neural_base = 1, neural_normal = 2, neural_emission = 3, neural_opacity = 4;
vec4 fetchNumber(int sampler_, ivec2 at, int level) { return numbers[at.x + 64 * at.y]; }
vec4 constantGrad(int which, vec2 uv, vec2 x, vec2 y) { return which == neural_base ? vec4(0.25, 0.5, 0.75, 0.125) : vec4(0.5, 0.5, 1.0, 1.0); }
vec4 constantLod(int which, vec2 uv, float level) { return which == neural_opacity ? vec4(0.75) : vec4(0.5, 0.25, 0.125, 1.0); }
vec4 bilinear(vec2 uv, int layer, int level)
{
    ivec2 size = kSize.xy;
    int start = 0;
    for (int finer = 0; finer < level; finer++)
    {
        start += kSize.z * size.x * size.y;
        size = max(size / 2, ivec2(1));
    }
    float x = fract(uv.x) * float(size.x) - 0.5, y = fract(uv.y) * float(size.y) - 0.5;
    int left = int(floor(x)), low = int(floor(y));
    vec4 sum = vec4(0.0);
    for (int corner = 0; corner < 4; corner++)
    {
        int column = left + (corner & 1), row = low + (corner >> 1);
        float weight = (1.0 - abs(x - float(column))) * (1.0 - abs(y - float(row)));
        column += column < 0 ? size.x : column >= size.x ? -size.x : 0;
        row += row < 0 ? size.y : row >= size.y ? -size.y : 0;
        sum += weight * texels[start + (layer * size.y + row) * size.x + column];
    }
    return sum;
}
vec4 exactLod(vec3 at, float level)
{
    int finer = int(level);
    int last = @LEVELS@ - 1;
    return mix(bilinear(at.xy, int(at.z), finer), bilinear(at.xy, int(at.z), min(finer + 1, last)), level - float(finer));
}
@UNIFORMS@
@CODE@
const mat3 kTurn = mat3(0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6);
void main()
{
    uint index = gl_GlobalInvocationID.x;
    if (index >= count)
        return;
    Query query = queries[index];
    neural_live = query.live.xyz;
    // mirrored in u, as some meshes are
    float side = query.wo.w;
    UV = vec2(query.place.x, 1.0 - query.place.y);
    float footprint = query.place.w * exp2(query.place.z);
    uvX = vec2(footprint, 0.0);
    uvY = vec2(0.0, -0.25 * footprint);
    vertexX = kTurn * vec3(0.1, 0.0, 0.0);
    vertexY = kTurn * vec3(0.0, 0.025 * side, 0.0);
    VERTEX = vec3(1.0, 2.0, -3.0);
    NORMAL = kTurn * vec3(0.0, 0.0, 2.0);
    VIEW = kTurn * vec3(query.wo.x, side * query.wo.y, query.wo.z);
    LIGHT = kTurn * vec3(query.wi.x, side * query.wi.y, query.wi.z);
    LIGHT_COLOR = PI * vec3(1.0, 0.5, 0.25);
    ATTENUATION = 0.5;
    SPECULAR_LIGHT = vec3(1.0);
    ALPHA = 1.0;
    fragment();
    light();
    float values[16] = float[16](SPECULAR_LIGHT.x, SPECULAR_LIGHT.y, SPECULAR_LIGHT.z, ALPHA, ALBEDO.x, ALBEDO.y,
        ALBEDO.z, ROUGHNESS, NORMAL.x, NORMAL.y, NORMAL.z, METALLIC, EMISSION.x, EMISSION.y, EMISSION.z, 0.0);
    for (int i = 0; i < 16; i++)
        answers[16 * index + i] = values[i];
}

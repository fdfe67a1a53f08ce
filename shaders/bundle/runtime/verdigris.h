// SPDX-License-Identifier: Apache-2.0

/* verdigris.h: reads a bundle of Verdigris (format 4) for an engine. One header, C99 or C++, without dependencies.

   In one source file:      #define VERDIGRIS_IMPLEMENTATION
                            #include "verdigris.h"
   In all others:           #include "verdigris.h"

       VdError error;
       VdBundle bundle;
       if (!vd_open(&bundle, "copper_tray.vdg", &error))
           fail(error.text);                             // names file and field
       upload(bundle.weights, bundle.weights_bytes);     // byte-address buffer
       upload(bundle.constants, bundle.constants_bytes); // or the same as floats, in a constant buffer
       upload(&bundle.record, sizeof bundle.record);     // 128 bytes; if bundle.index is not 0, then record_below
       for (uint32_t level = 0; level < bundle.latents.levels; level++)
           upload_level(bundle.latents.level[level]);    // its layers, one after the other
       vd_close(&bundle);

   On the CPU, vd_decode returns a response, and vd_prepare with vd_shade, vd_pdf and vd_draw serves a path tracer.

   Optional, before the implementation:
       VD_MALLOC(bytes), VD_FREE(pointer)   memory
       VD_NO_STDIO                          no vd_open and no files; use vd_open_with
       VD_NO_DIGESTS                        do not compare SHA-256 of files with the manifest

   Paths are UTF-8, also on Windows. There is no global or static state: threads may open different bundles. */
#ifndef VERDIGRIS_H
#define VERDIGRIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VD_MOST_LEVELS 14
#define VD_MOST_LAYERS 9
#define VD_CHANNELS 8 /* most latent channels of a texel */
#define VD_MOST_LIVE 3
#define VD_MOST_FRAMES 4

/* The texel formats of bundles, one a row: its name, also in the manifest; its VkFormat, which is the value of
   VD_name; bytes of a texel, or of a block; texels along a side of a block; and the textures that may have it. */
#define VD_FORMATS(row) \
    row(R8_UNORM, 9, 1, 1, VD__OPACITY) \
    row(R8G8B8A8_UNORM, 37, 4, 1, VD__LATENTS | VD__RELIEF) \
    row(R8G8B8A8_SRGB, 43, 4, 1, VD__PROXIES) \
    row(R16G16B16A16_SFLOAT, 97, 8, 1, VD__LATENTS | VD__EMISSION) \
    row(BC6H_UFLOAT_BLOCK, 143, 16, 4, VD__EMISSION) \
    row(BC7_UNORM_BLOCK, 145, 16, 4, VD__LATENTS) \
    row(ASTC_4x4_UNORM_BLOCK, 157, 16, 4, VD__LATENTS)

#define VD__VALUE(name, number, bytes, side, uses) , VD_##name = number
enum { VD_NO_FORMAT = 0 VD_FORMATS(VD__VALUE) };
#undef VD__VALUE

typedef enum { VD_NONE, VD_SILU, VD_RELU, VD_LEAKY_RELU, VD_LEAKY_SMELU } VdActivation;

/* One line: the file, the field, its value, and what to do. */
typedef struct {
    char text[400];
} VdError;

typedef struct {
    const uint8_t *data; /* layer after layer, rows without padding, row 0 at v = 0 */
    size_t bytes;        /* bytes of all layers */
    uint32_t width, height;
} VdLevel;

typedef struct {
    uint32_t format; /* VkFormat; 0 if the bundle has no such texture */
    uint32_t width, height, layers, levels;
    VdLevel level[VD_MOST_LEVELS]; /* finest first */
    uint8_t *memory;
} VdTexture;

/* NeuralRecord of the shaders: 128 bytes, the same in storage and constant buffers. */
typedef struct {
    float scale[VD_CHANNELS], offset[VD_CHANNELS];
    uint32_t width, height, levels;
    uint32_t texture;   /* yours: index of the texture in your array */
    uint32_t weights;   /* yours: first byte of this decoder in your buffer; add it to matrix[], too */
    uint32_t matrix[8]; /* first byte of each hidden layer's matrix, for cooperative vectors */
    float live[VD_MOST_LIVE]; /* defaults of live inputs, from 0 to 1 */
} VdRecord;

/* An input with a value in each evaluation, from 0 (low) to 1 (high). */
typedef struct {
    char name[128];
    char type[16];       /* float, color3, time or frame */
    float low[3], high[3]; /* three numbers for color3, one for the other types */
} VdLiveInput;

typedef struct {
    uint32_t inputs, outputs, weights, bias; /* first bytes in VdBundle.weights */
    uint32_t row_stride;                     /* bytes */
    VdActivation activation;
} VdLayer;

/* Constants of the table `sampler`. */
typedef struct {
    float slope, width_minimum, width_maximum, weight_minimum, view_cosine_minimum, view_cosine_maximum, tilt_share,
        tilt_maximum, lean_cosine_minimum;
} VdSampler;

typedef struct {
    char name[128];
    char advised[16]; /* arithmetic; "" if the bundle gives no advice */
    uint32_t channels; /* latent channels of a texel: 4 or 8, four in each layer of the texture */
    uint32_t frame_count, lobes, layer_count;
    uint32_t live_count;
    VdLiveInput live[VD_MOST_LIVE];
    VdLayer layer[VD_MOST_LAYERS];
    uint32_t frames, frames_stride; /* first byte of the tensor `frames`, bytes a row */
    int has_sampler;                /* bundles before 4.2 have none, and draw from a cosine lobe and uniformly */
    VdSampler sampler;
    VdLayer head[4]; /* two layers of the sampler's head, two of the head of split-sum lighting */
    float slope, width;
    float shift, limit;
    float half_z_minimum, length_epsilon, stretch_limit, cosine_offset, logarithm_share;
    double relative, absolute, floor; /* bounds of the check */
    uint8_t *weights;                 /* weights.bin, at the places that the shaders expect */
    size_t weights_bytes;             /* of a surface that transmits, with the second decoder behind the first */
    size_t decoder_bytes;             /* of one decoder in `weights` */
    float *constants; /* the same as floats, for neuralFloats: every second hidden matrix transposed */
    size_t constants_bytes;
    VdTexture latents, emission, opacity, proxies, relief;
    VdTexture transmitted_albedo; /* mean share of light from below that passes */
    float relief_scale, relief_midlevel; /* height = scale * (stored - midlevel), in world units */
    VdRecord record;
    float index;           /* of the medium below a surface that transmits, 1 for a thin wall; 0 for an opaque surface */
    VdRecord record_below; /* its second record, which follows the first: other places, and the index in live[0] */
    char reference[132];       /* file name, for vd_check; "" while a material trains */
    char reference_below[132]; /* the same for light from below */
} VdBundle;

/* NeuralQuery of the shaders' check: 48 bytes. */
typedef struct {
    float uv[2], lod;
    uint32_t material; /* yours: index of the record, 0 otherwise */
    float wi[3], random, wo[3], random2;
} VdQuery;

/* The rows of reference.json, and of light from below: queries to a shader, and the answers that it should give. */
typedef struct {
    uint32_t count;
    uint32_t room; /* rows of a file */
    VdQuery *queries;
    float (*live)[4]; /* values of live inputs, then 0; a shader's query has them at its end, and 64 bytes in all */
    float (*responses)[3];
} VdReference;

/* Reads a whole file of the bundle into memory from VD_MALLOC, which vd_* frees. Returns 0 if there is no such file. */
typedef int (*VdRead)(void *user, const char *file, size_t most, uint8_t **data, size_t *bytes);

/* All functions return 1, or 0 with an error. After an error there is nothing to close. */
int vd_open_with(VdBundle *bundle, VdRead read, void *user, VdError *error);
#ifndef VD_NO_STDIO
int vd_open(VdBundle *bundle, const char *folder, VdError *error);
/* Decodes every row of reference.json in this program. `largest` is the largest difference, divided by the allowed
   one: 1 is the limit. */
int vd_check(const VdBundle *bundle, const char *folder, double *largest, VdError *error);
/* Reads the rows, to check a shader: upload `queries`, and pass its answers to vd_compare. */
int vd_open_reference(const VdBundle *bundle, const char *folder, VdReference *reference, VdError *error);
#endif
int vd_check_with(const VdBundle *bundle, VdRead read, void *user, double *largest, VdError *error);
int vd_open_reference_with(const VdBundle *bundle, VdRead read, void *user, VdReference *reference, VdError *error);
/* Compares responses with the rows: `found` has three floats at each multiple of `stride` floats. Use 12 for the answers
   of the shaders' check, and 4 for those of cooperative_matrix.spv. */
int vd_compare(const VdBundle *bundle, const VdReference *reference, const float *found, size_t stride,
               double *largest, VdError *error);
void vd_close_reference(VdReference *reference);
void vd_close(VdBundle *bundle);

/* Replaces latents in BC7 blocks by the same texels as R8G8B8A8, for devices without BC7. */
int vd_unpack_latents(VdBundle *bundle, VdError *error);

/* The response for one light: BSDF times cosine. Directions are unit vectors in the tangent frame; for a surface that
   transmits, wi may point below it. Live inputs have their defaults. */
void vd_decode(const VdBundle *bundle, const float uv[2], float lod, const float wi[3], const float wo[3],
               float response[3]);
/* The same with values of the live inputs, from 0 to 1. */
void vd_decode_live(const VdBundle *bundle, const float uv[2], float lod, const float wi[3], const float wo[3],
                    const float live[VD_MOST_LIVE], float response[3]);

/* A learned frame under a view, or a lobe of the sampler. */
typedef struct {
    float axes[3][3]; /* tangent, bitangent, normal */
    float seen[3];    /* wo in these; for a lobe, above their horizon */
    float width[2];   /* of a lobe, GGX alpha along tangent and bitangent; of a learned frame, its stretch */
} VdFrame;

/* A place of the surface under a view, for any number of lights. The second row of each array is that of light from below. */
typedef struct {
    const VdBundle *bundle;
    float wo[3], latent[VD_CHANNELS + VD_MOST_LIVE];
    float share; /* of the directions that vd_draw draws above; 1 for an opaque surface */
    VdFrame frame[2][VD_MOST_FRAMES], lobe[2][VD_MOST_FRAMES];
    float weight[2][VD_MOST_FRAMES + 2]; /* of the lobes, the cosine lobe and the uniform hemisphere */
} VdSurface;

/* `live`: values of the live inputs, 0 for their defaults. `share`: the part of the directions that is drawn above, from 0
   to 1, .5 for want of better; an opaque surface takes 1. */
void vd_prepare(const VdBundle *bundle, const float uv[2], float lod, const float wo[3], const float *live, float share,
                VdSurface *surface);
/* The response for one light, as vd_decode. */
void vd_shade(const VdSurface *surface, const float wi[3], float response[3]);
/* The density with which vd_draw draws wi, by solid angle: over the sphere for a surface that transmits. It integrates to 1
   less the share of draws that carry no light. */
float vd_pdf(const VdSurface *surface, const float wi[3]);
/* A direction of light for two numbers in [0, 1), uniform and independent. Returns 0 where it carries no light: count such a
   draw as a sample of 0. The weight of others is response / density. */
int vd_draw(const VdSurface *surface, const float random[2], float wi[3]);

/* Your environment map, without the sun. Directions are unit vectors in the tangent frame. */
typedef struct {
    /* mean radiance of so large a solid angle around a direction */
    void (*radiance)(void *user, const float direction[3], float solid_angle, float light[3]);
    /* the integral of radiance times cosine around a normal */
    void (*irradiance)(void *user, const float normal[3], float light[3]);
    void *user;
} VdEnvironment;

/* Light of an environment on both sides, as neural_environment_sides.slang: by filtered samples, whose `random` is uniform in
   [0, 1) and the same for all of a pixel; or by split-sum lighting, without noise. */
void vd_environment_light(const VdSurface *surface, const VdEnvironment *environment, uint32_t samples,
                          const float random[2], float light[3]);
void vd_environment_light_split(const VdSurface *surface, const VdEnvironment *environment, float light[3]);

/* Relief of a bundle with a height map, as neuralRelief in neural_relief.slang: bundle.relief.format is not 0. `extent` is
   the length of dP/du and dP/dv in world units, `lod` log2 of the footprint's width in texels of the height map. wo[2]
   must be above 0. `seen` gets the uv of the place that the ray to the viewer shows, and its height in world units. */
void vd_relief(const VdBundle *bundle, const float uv[2], const float wo[3], const float extent[2], float lod,
               float seen[3]);
/* 1 where light from wi reaches the place, 0 in the shadow of the relief, and where wi[2] is 0 or below. */
float vd_relief_shadow(const VdBundle *bundle, const float seen[3], const float wi[3], const float extent[2], float lod);
/* The normal of the relief in the frame of the base surface. Turn wi and wo into its frame (docs/FORMAT.md). */
void vd_relief_normal(const VdBundle *bundle, const float uv[2], const float extent[2], float lod, float normal[3]);

float vd_half_to_float(uint16_t half);

#ifdef __cplusplus
}
#endif
#endif

#ifdef VERDIGRIS_IMPLEMENTATION
#undef VERDIGRIS_IMPLEMENTATION

#include <math.h>
#include <stdio.h>
#include <string.h>
#ifndef VD_NO_STDIO
#include <sys/stat.h>
#endif
#ifndef VD_MALLOC
#include <stdlib.h>
#define VD_MALLOC(bytes) malloc(bytes)
#define VD_FREE(pointer) free(pointer)
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { VD__MOST_MANIFEST = 4 << 20, VD__MOST_WEIGHTS = 16 << 20, VD__MOST_REFERENCE = 8 << 20, VD__DEPTH = 100 };
/* Most values of a JSON file: a few bytes of text take 48 bytes in memory. */
enum { VD__MANIFEST_VALUES = 1 << 16, VD__REFERENCE_VALUES = 1 << 20 };
#define VD__MOST_TEXTURE ((size_t)2 << 30)

static int vd__fail(VdError *error, const char *file, const char *field, const char *found, const char *remedy) {
    if (error)
        snprintf(error->text, sizeof error->text, "%.140s: %.80s%s%.80s: %.90s", file, field,
                 found[0] ? " is " : "", found, remedy);
    return 0;
}

static int vd__fail_number(VdError *error, const char *file, const char *field, double found, const char *remedy) {
    char text[40];
    snprintf(text, sizeof text, "%.10g", found);
    return vd__fail(error, file, field, text, remedy);
}

/* ---- JSON ---- */

typedef enum { VD__NULL, VD__BOOL, VD__NUMBER, VD__TEXT, VD__LIST, VD__OBJECT } Vd__Kind;

typedef struct {
    const char *text; /* a text without quotes, with its escapes; a member's name is `key` */
    const char *key;
    uint32_t length, key_length;
    uint32_t child, next; /* indices; 0 ends a list */
    double number;
    uint8_t kind, is_whole;
} Vd__Value;

typedef struct {
    const char *file, *at, *end;
    Vd__Value *values;
    uint32_t count, room, most;
    VdError *error;
} Vd__Json;

static int vd__json_fail(Vd__Json *json, const char *begin, const char *what) {
    char place[40];
    snprintf(place, sizeof place, "byte %lu", (unsigned long)(json->at - begin));
    return vd__fail(json->error, json->file, place, what, "the file is damaged: write the bundle again");
}

static void vd__skip(Vd__Json *json) {
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\n' || *json->at == '\r' || *json->at == '\t'))
        json->at++;
}

static uint32_t vd__add(Vd__Json *json) {
    if (json->count == json->most)
        return 0;
    if (json->count == json->room) {
        uint32_t room = json->room ? 2 * json->room : 256;
        Vd__Value *values = (Vd__Value *)VD_MALLOC((size_t)room * sizeof(Vd__Value));
        if (!values)
            return 0;
        if (json->count)
            memcpy(values, json->values, (size_t)json->count * sizeof(Vd__Value));
        VD_FREE(json->values);
        json->values = values;
        json->room = room;
    }
    memset(&json->values[json->count], 0, sizeof(Vd__Value));
    return json->count++;
}

static int vd__text(Vd__Json *json, const char **text, uint32_t *length) {
    const char *begin = ++json->at;
    while (json->at < json->end && *json->at != '"') {
        if ((unsigned char)*json->at < 0x20)
            return 0;
        if (*json->at == '\\' && ++json->at == json->end)
            return 0;
        json->at++;
    }
    if (json->at == json->end)
        return 0;
    *text = begin;
    *length = (uint32_t)(json->at++ - begin);
    return 1;
}

/* The number of the decimals that JSON allows, independent of the locale. */
static int vd__number(Vd__Json *json, double *number, uint8_t *is_whole) {
    uint64_t digits = 0;
    int exponent = 0, power = 0, negative = 0, negative_power = 0, any = 0;
    *is_whole = 1;
    if (json->at < json->end && *json->at == '-')
        negative = 1, json->at++;
    if (json->at + 1 < json->end && json->at[0] == '0' && json->at[1] >= '0' && json->at[1] <= '9')
        return 0;
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++, any = 1) {
        if (digits < (uint64_t)1 << 59)
            digits = 10 * digits + (uint64_t)(*json->at - '0');
        else
            exponent++;
    }
    if (!any)
        return 0;
    if (json->at < json->end && *json->at == '.') {
        *is_whole = 0;
        any = 0;
        for (json->at++; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++, any = 1)
            if (digits < (uint64_t)1 << 59)
                digits = 10 * digits + (uint64_t)(*json->at - '0'), exponent--;
        if (!any)
            return 0;
    }
    if (json->at < json->end && (*json->at == 'e' || *json->at == 'E')) {
        *is_whole = 0;
        any = 0;
        json->at++;
        if (json->at < json->end && (*json->at == '+' || *json->at == '-'))
            negative_power = *json->at++ == '-';
        for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++, any = 1)
            if (power < 100000)
                power = 10 * power + (*json->at - '0');
        if (!any)
            return 0;
    }
    exponent += negative_power ? -power : power;
    if (exponent < -400)
        exponent = -400;
    if (exponent > 400)
        exponent = 400;
    if (exponent < 0) {
        *number = (double)digits / pow(10.0, exponent < -300 ? 300 : -exponent);
        if (exponent < -300)
            *number /= pow(10.0, -exponent - 300);
    } else {
        *number = (double)digits * pow(10.0, exponent);
    }
    *number = negative ? -*number : *number;
    return 1;
}

/* Index of a value, or 0. The recursion is as deep as the file nests, at most VD__DEPTH. */
static uint32_t vd__value(Vd__Json *json, const char *begin, int depth) {
    uint32_t index, last = 0;
    Vd__Value *value;
    vd__skip(json);
    if (json->at == json->end || depth > VD__DEPTH || !(index = vd__add(json)))
        return (uint32_t)vd__json_fail(
            json, begin, depth > VD__DEPTH ? "nested too deep" : json->count == json->most ? "one value too many" : "not JSON");
    value = &json->values[index];
    if (*json->at == '"') {
        value->kind = VD__TEXT;
        if (!vd__text(json, &value->text, &value->length))
            return (uint32_t)vd__json_fail(json, begin, "not a text");
    } else if (*json->at == '{' || *json->at == '[') {
        const int is_object = *json->at++ == '{';
        const char close = is_object ? '}' : ']';
        value->kind = is_object ? VD__OBJECT : VD__LIST;
        vd__skip(json);
        if (json->at < json->end && *json->at == close) {
            json->at++;
            return index;
        }
        for (;;) {
            const char *key = 0;
            uint32_t key_length = 0, child;
            vd__skip(json);
            if (is_object) {
                if (json->at == json->end || *json->at != '"' || !vd__text(json, &key, &key_length))
                    return (uint32_t)vd__json_fail(json, begin, "not a name");
                vd__skip(json);
                if (json->at == json->end || *json->at++ != ':')
                    return (uint32_t)vd__json_fail(json, begin, "without a colon");
            }
            if (!(child = vd__value(json, begin, depth + 1)))
                return 0;
            json->values[child].key = key;
            json->values[child].key_length = key_length;
            if (last)
                json->values[last].next = child;
            else
                json->values[index].child = child;
            last = child;
            vd__skip(json);
            if (json->at == json->end || (*json->at != ',' && *json->at != close))
                return (uint32_t)vd__json_fail(json, begin, "without a comma");
            if (*json->at++ == close)
                return index;
        }
    } else if (json->end - json->at >= 4 && (!memcmp(json->at, "true", 4) || !memcmp(json->at, "null", 4))) {
        value->kind = *json->at == 't' ? VD__BOOL : VD__NULL;
        value->number = *json->at == 't';
        json->at += 4;
    } else if (json->end - json->at >= 5 && !memcmp(json->at, "false", 5)) {
        value->kind = VD__BOOL;
        json->at += 5;
    } else {
        double number;
        uint8_t is_whole;
        if (!vd__number(json, &number, &is_whole))
            return (uint32_t)vd__json_fail(json, begin, "not a number");
        json->values[index].kind = VD__NUMBER;
        json->values[index].number = number;
        json->values[index].is_whole = is_whole;
    }
    return index;
}

static int vd__parse(
    Vd__Json *json, const char *file, const uint8_t *data, size_t bytes, uint32_t most, VdError *error) {
    const char *begin = (const char *)data;
    memset(json, 0, sizeof *json);
    json->file = file;
    json->at = begin;
    json->end = begin + bytes;
    json->most = most;
    json->error = error;
    vd__add(json); /* index 0 is no value */
    if (!json->values || !vd__value(json, begin, 0))
        return 0;
    vd__skip(json);
    if (json->at != json->end)
        return vd__json_fail(json, begin, "behind the end");
    if (json->values[1].kind != VD__OBJECT)
        return vd__fail(error, file, "the document", "", "it must be an object");
    return 1;
}

static void vd__free(Vd__Json *json) {
    VD_FREE(json->values);
    json->values = 0;
}

/* A place in the document, with its path for errors. */
typedef struct {
    Vd__Json *json;
    uint32_t at;
    char path[72];
} Vd__Field;

static const Vd__Value *vd__of(const Vd__Field *field) { return &field->json->values[field->at]; }

static int vd__wrong(const Vd__Field *field, const char *remedy) {
    const Vd__Value *value = vd__of(field);
    char text[48];
    if (!field->at)
        return vd__fail(field->json->error, field->json->file, field->path, "missing", remedy);
    if (value->kind == VD__NUMBER)
        return vd__fail_number(field->json->error, field->json->file, field->path, value->number, remedy);
    snprintf(text, sizeof text, "%.*s", value->kind == VD__TEXT ? (int)(value->length < 40 ? value->length : 40) : 0,
             value->text ? value->text : "");
    return vd__fail(field->json->error, field->json->file, field->path, value->kind == VD__TEXT ? text : "", remedy);
}

/* The member of an object; `at` is 0 if there is none. A document should not have a name twice: the first counts. */
static Vd__Field vd__get(const Vd__Field *from, const char *name) {
    Vd__Field found = *from;
    const size_t length = strlen(name);
    uint32_t each = from->at && vd__of(from)->kind == VD__OBJECT ? vd__of(from)->child : 0;
    const size_t before = strlen(found.path);
    snprintf(found.path + before, sizeof found.path - before, "%s%s", before ? "." : "", name);
    found.at = 0;
    for (; each; each = from->json->values[each].next) {
        const Vd__Value *value = &from->json->values[each];
        if (value->key_length == length && !memcmp(value->key, name, length)) {
            found.at = each;
            break;
        }
    }
    return found;
}

static Vd__Field vd__first(const Vd__Field *from) {
    Vd__Field found = *from;
    const size_t before = strlen(found.path);
    found.at = vd__of(from)->kind == VD__LIST ? vd__of(from)->child : 0;
    snprintf(found.path + before, sizeof found.path - before, "[]");
    return found;
}

static int vd__is(const Vd__Field *field, const char *text) {
    const Vd__Value *value = vd__of(field);
    return field->at && value->kind == VD__TEXT && value->length == strlen(text) &&
           !memcmp(value->text, text, value->length);
}

static int vd__copy_text(const Vd__Field *field, char *target, size_t room) {
    const Vd__Value *value = vd__of(field);
    size_t length = value->length;
    if (!field->at || value->kind != VD__TEXT)
        return vd__wrong(field, "it must be a text");
    if (length >= room)
        length = room - 1;
    memcpy(target, value->text, length);
    target[length] = 0;
    return 1;
}

static int vd__real(const Vd__Field *field, double least, double most, double *number) {
    if (!field->at || vd__of(field)->kind != VD__NUMBER || !(vd__of(field)->number >= least) ||
        !(vd__of(field)->number <= most))
        return vd__wrong(field, "it must be a number within its limits (FORMAT.md)");
    *number = vd__of(field)->number;
    return 1;
}

static int vd__single(const Vd__Field *field, double most, float *number) {
    double found = 0;
    if (!vd__real(field, -most, most, &found))
        return 0;
    *number = (float)found;
    return 1;
}

static int vd__whole(const Vd__Field *field, double least, double most, uint32_t *number) {
    double found = 0;
    if (!vd__real(field, least, most, &found))
        return 0;
    if (!vd__of(field)->is_whole)
        return vd__wrong(field, "it must be a whole number");
    *number = (uint32_t)found;
    return 1;
}

static int vd__floats(const Vd__Field *list, uint32_t count, double most, float *numbers) {
    Vd__Field each = vd__first(list);
    uint32_t index;
    if (!list->at || vd__of(list)->kind != VD__LIST)
        return vd__wrong(list, "it must be a list");
    for (index = 0; index < count; index++, each.at = vd__of(&each)->next) {
        if (!each.at)
            return vd__wrong(list, "it has too few numbers");
        if (!vd__single(&each, most, &numbers[index]))
            return 0;
    }
    return each.at ? vd__wrong(list, "it has too many numbers") : 1;
}

/* ---- files ---- */

#ifndef VD_NO_DIGESTS
static uint32_t vd__turn(uint32_t x, int bits) { return x >> bits | x << (32 - bits); }

static void vd__sha256_block(uint32_t state[8], const uint8_t *block) {
    static const uint32_t primes[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t words[64], s[8], i;
    for (i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (; i < 64; i++)
        words[i] = words[i - 16] + words[i - 7] +
                   (vd__turn(words[i - 15], 7) ^ vd__turn(words[i - 15], 18) ^ words[i - 15] >> 3) +
                   (vd__turn(words[i - 2], 17) ^ vd__turn(words[i - 2], 19) ^ words[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (i = 0; i < 64; i++) {
        uint32_t a = s[7] + (vd__turn(s[4], 6) ^ vd__turn(s[4], 11) ^ vd__turn(s[4], 25)) +
                     ((s[4] & s[5]) ^ (~s[4] & s[6])) + primes[i] + words[i];
        uint32_t b = (vd__turn(s[0], 2) ^ vd__turn(s[0], 13) ^ vd__turn(s[0], 22)) +
                     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (i = 0; i < 8; i++)
        state[i] += s[i];
}

static void vd__sha256(const uint8_t *data, size_t bytes, char hex[65]) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t last[128] = {0};
    const size_t rest = bytes % 64, ending = rest < 56 ? 64 : 128;
    size_t at;
    int i;
    for (at = 0; at + 64 <= bytes; at += 64)
        vd__sha256_block(state, data + at);
    memcpy(last, data + at, rest);
    last[rest] = 0x80;
    for (i = 0; i < 8; i++)
        last[ending - 1 - (size_t)i] = (uint8_t)((uint64_t)bytes * 8 >> (8 * i));
    for (at = 0; at < ending; at += 64)
        vd__sha256_block(state, last + at);
    for (i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", (unsigned)state[i]);
}
#endif

/* Only plain names, which cannot lead out of the folder. */
static int vd__file_name(const Vd__Field *record, char name[132]) {
    const Vd__Field file = vd__get(record, "file");
    const char *each;
    if (!vd__copy_text(&file, name, 132))
        return 0;
    for (each = name; *each; each++)
        if (!((*each >= 'a' && *each <= 'z') || (*each >= 'A' && *each <= 'Z') || (*each >= '0' && *each <= '9') ||
              *each == '_' || ((*each == '.' || *each == '-') && each != name)))
            break;
    if (*each || vd__of(&file)->length < 2 || vd__of(&file)->length > 128)
        return vd__wrong(&file, "it must be a plain file name");
    return 1;
}

static int vd__read_record(const Vd__Field *record, VdRead read, void *user, size_t most, uint8_t **data,
                           size_t *bytes) {
    const Vd__Field length = vd__get(record, "bytes");
    char name[132];
    double wanted = 0;
    *data = 0;
    if (!record->at)
        return vd__wrong(record, "write the bundle again");
    if (!vd__file_name(record, name) || !vd__real(&length, 1, (double)most, &wanted))
        return 0;
    if (!read(user, name, most, data, bytes))
        return vd__fail(record->json->error, name, "the file", "missing, not a plain file, or too large", "copy the whole folder of the bundle");
    if ((double)*bytes != wanted) {
        VD_FREE(*data);
        *data = 0;
        return vd__fail_number(record->json->error, name, "length", (double)*bytes,
                               "the manifest has another: copy the folder of the bundle again");
    }
#ifndef VD_NO_DIGESTS
    {
        const Vd__Field digest = vd__get(record, "sha256");
        char hex[65];
        vd__sha256(*data, *bytes, hex);
        if (!vd__is(&digest, hex)) {
            VD_FREE(*data);
            *data = 0;
            return vd__fail(record->json->error, name, "sha256", hex,
                            "the manifest has another: copy the folder of the bundle again");
        }
    }
#endif
    return 1;
}

static uint32_t vd__u32(const uint8_t *data) {
    return (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

static uint64_t vd__u64(const uint8_t *data) { return vd__u32(data) | (uint64_t)vd__u32(data + 4) << 32; }

/* Textures of a bundle, as bits of `uses` in VD_FORMATS. */
enum { VD__LATENTS = 1, VD__EMISSION = 2, VD__OPACITY = 4, VD__PROXIES = 8, VD__RELIEF = 16 };

#define VD__ROW(name, number, bytes, side, uses) {#name, number, bytes, side, uses},
typedef struct {
    const char *name;
    uint32_t number, bytes, side, uses;
} Vd__Format;
static const Vd__Format vd__formats[] = {VD_FORMATS(VD__ROW){"unknown", 0, 0, 1, 0}};
#undef VD__ROW

static const Vd__Format *vd__format(uint32_t number) {
    const Vd__Format *row = vd__formats;
    while (row->number && row->number != number)
        row++;
    return row;
}

/* The VkFormat with this name for this use, or 0. */
static uint32_t vd__format_named(const Vd__Field *name, uint32_t use) {
    const Vd__Format *row = vd__formats;
    while (row->number && !(row->uses & use && vd__is(name, row->name)))
        row++;
    return row->number;
}

static int vd__is_block(uint32_t format) { return vd__format(format)->side > 1; }

static size_t vd__level_bytes(uint32_t format, uint32_t width, uint32_t height, uint32_t layers) {
    const Vd__Format *row = vd__format(format);
    const uint32_t more = row->side - 1;
    return (size_t)((width + more) / row->side) * ((height + more) / row->side) * layers * row->bytes;
}

static void vd__place_levels(VdTexture *texture) {
    uint32_t level;
    for (level = 0; level < texture->levels; level++) {
        VdLevel *each = &texture->level[level];
        each->width = texture->width >> level ? texture->width >> level : 1;
        each->height = texture->height >> level ? texture->height >> level : 1;
        each->bytes = vd__level_bytes(texture->format, each->width, each->height, texture->layers);
    }
}

/* `layers`: as the file counts them, 0 for a texture that is not an array. */
static int vd__read_ktx2(VdTexture *texture, uint32_t layers, const char *file, const uint8_t *data, size_t bytes,
                         VdError *error) {
    static const uint8_t mark[12] = {0xAB, 'K', 'T', 'X', ' ', '2', '0', 0xBB, '\r', '\n', 0x1A, '\n'};
    static const struct {
        uint32_t at;
        const char *name;
    } fields[] = {{12, "vkFormat"}, {20, "pixelWidth"}, {24, "pixelHeight"}, {28, "pixelDepth"},
                  {32, "layerCount"}, {36, "faceCount"}, {40, "levelCount"}};
    const uint32_t wanted[] = {texture->format, texture->width, texture->height, 0, layers, 1, texture->levels};
    uint32_t i;
    if (bytes < 80 || memcmp(data, mark, sizeof mark))
        return vd__fail(error, file, "the identifier", "not that of KTX 2.0", "write the bundle again");
    if (vd__u32(data + 44) == 2)
        return vd__fail(error, file, "supercompressionScheme", "2 (Zstandard)",
                        "unpack the file first, for example with ktx extract, or in your VdRead");
    if (vd__u32(data + 44))
        return vd__fail_number(error, file, "supercompressionScheme", vd__u32(data + 44), "only 0 can be read");
    for (i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (vd__u32(data + fields[i].at) != wanted[i]) {
            char remedy[60];
            snprintf(remedy, sizeof remedy, "the manifest has %u", (unsigned)wanted[i]);
            return vd__fail_number(error, file, fields[i].name, vd__u32(data + fields[i].at), remedy);
        }
    vd__place_levels(texture);
    for (i = 0; i < texture->levels; i++) {
        uint64_t offset, length;
        if (bytes < 80 + 24 * ((size_t)i + 1))
            return vd__fail(error, file, "the level index", "cut off", "copy the folder of the bundle again");
        offset = vd__u64(data + 80 + 24 * i);
        length = vd__u64(data + 88 + 24 * i);
        if (length != texture->level[i].bytes)
            return vd__fail_number(error, file, "byteLength of a level", (double)length, "it does not fit its size");
        if (offset > bytes || length > bytes - offset)
            return vd__fail_number(error, file, "byteOffset of a level", (double)offset, "it must end inside the file");
        texture->level[i].data = data + offset;
    }
    return 1;
}

static int vd__texture(VdTexture *texture, const Vd__Field *root, const char *name, uint32_t use, uint32_t layers,
                       VdRead read, void *user) {
    const Vd__Field record = vd__get(root, name);
    const Vd__Field format = vd__get(&record, "format"), levels = vd__get(&record, "levels");
    const Vd__Field width = vd__get(&record, "width"), height = vd__get(&record, "height");
    const Vd__Field layer_count = vd__get(&record, "layers");
    uint32_t larger, wanted = 1, found = 0;
    size_t bytes = 0;
    char file[132];
    if (!record.at)
        return 1;
    if (!vd__whole(&width, 1, 8192, &texture->width) || !vd__whole(&height, 1, 8192, &texture->height) ||
        !vd__whole(&levels, 1, VD_MOST_LEVELS, &texture->levels))
        return 0;
    if (layers && (!vd__whole(&layer_count, layers, layers, &found)))
        return 0;
    for (larger = texture->width > texture->height ? texture->width : texture->height; larger > 1; larger >>= 1)
        wanted++;
    if (texture->levels != wanted)
        return vd__wrong(&levels, "it must go down to 1 x 1");
    if (!vd__format_named(&format, use))
        return vd__wrong(&format, "this format is unknown: use a newer verdigris.h");
    texture->layers = layers ? layers : 1;
    if (!vd__file_name(&record, file) || !vd__read_record(&record, read, user, VD__MOST_TEXTURE, &texture->memory, &bytes))
        return 0;
    texture->format = vd__format_named(&format, use);
    return vd__read_ktx2(texture, layers, file, texture->memory, bytes, root->json->error);
}

/* ---- weights ---- */

float vd_half_to_float(uint16_t half) {
    const uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    float value;
    if (exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else if (exponent)
        value = ldexpf((float)(1024 + mantissa), (int)exponent - 25);
    else
        value = ldexpf((float)mantissa, -24);
    return half & 0x8000 ? -value : value;
}

static float vd__at(const uint8_t *data) { return vd_half_to_float((uint16_t)(data[0] | data[1] << 8)); }

static uint32_t vd__align(uint32_t place, uint32_t step) { return (place + step - 1) / step * step; }

/* Copies a tensor to the place that the shaders expect. With `target` 0 it only moves `end`. */
static int vd__tensor(const Vd__Field *tensors, const uint8_t *data, size_t bytes, const char *name, uint32_t rows,
                      uint32_t columns, uint8_t *target, uint32_t *end, uint32_t *place, uint32_t *stride) {
    Vd__Field each = vd__first(tensors);
    const uint32_t width = 2 * columns;
    uint32_t offset = 0, from_stride = 0, row, column;
    *stride = rows ? vd__align(width, 16) : width;
    *place = vd__align(*end, rows ? 128 : 64);
    *end = *place + (rows ? rows : 1) * *stride;
    if (!target)
        return 1;
    for (; each.at; each.at = vd__of(&each)->next) {
        const Vd__Field found = vd__get(&each, "name");
        if (vd__is(&found, name))
            break;
    }
    snprintf(each.path, sizeof each.path, "weights.tensors.%s", name);
    if (!each.at)
        return vd__wrong(&each, "write the bundle again");
    {
        const Vd__Field type = vd__get(&each, "type"), shape = vd__get(&each, "shape");
        const Vd__Field begin = vd__get(&each, "offset"), step = vd__get(&each, "row_stride");
        float sizes[2] = {0, 0};
        if (!vd__is(&type, "float16"))
            return vd__wrong(&type, "it must be float16");
        if (!vd__floats(&shape, rows ? 2 : 1, 1e6, sizes))
            return 0;
        if (sizes[0] != (float)(rows ? rows : columns) || (rows && sizes[1] != (float)columns))
            return vd__wrong(&shape, "it does not fit the network");
        if (!vd__whole(&begin, 0, VD__MOST_WEIGHTS, &offset) || !vd__whole(&step, width, 65536, &from_stride))
            return 0;
        if (offset % (rows ? 128 : 64))
            return vd__wrong(&begin, "it is not aligned");
        if (rows && from_stride % 16)
            return vd__wrong(&step, "it must be a multiple of 16");
        if (offset > bytes || (size_t)(rows ? rows : 1) * (rows ? from_stride : width) > bytes - offset)
            return vd__wrong(&begin, "the tensor must end inside the file");
    }
    for (row = 0; row < (rows ? rows : 1); row++) {
        const uint8_t *from = data + offset + (size_t)row * from_stride;
        for (column = 0; column < columns; column++)
            if ((from[2 * column + 1] & 0x7C) == 0x7C)
                return vd__wrong(&each, "it contains values that are not finite");
        memcpy(target + *place + (size_t)row * *stride, from, width);
    }
    return 1;
}

/* All tensors of the decoder, and of the sampler and split-sum lighting if there are any. With `target` 0 it only
   measures their size. */
static int vd__tensors(VdBundle *bundle, const Vd__Field *root, const uint8_t *data, size_t bytes, uint8_t *target,
                       uint32_t *end) {
    const Vd__Field weights = vd__get(root, "weights"), tensors = vd__get(&weights, "tensors");
    const Vd__Field sampler = vd__get(root, "sampler"), split = vd__get(&sampler, "split");
    const Vd__Field kind = vd__get(&sampler, "kind");
    const uint32_t frames = bundle->frame_count, seen = bundle->channels + bundle->live_count + 2 * frames + 2;
    /* bundles before 4.6 have no rows for leaning, and before 4.4 none for tilts: their places stay free */
    const int is_untilted = vd__is(&kind, "visible_normals_cosine_uniform");
    const int is_tilted = vd__is(&kind, "tilted_visible_normals_cosine_uniform");
    const int is_known = is_untilted || is_tilted || vd__is(&kind, "leaning_visible_normals_cosine_uniform") ||
                         vd__is(&kind, "grazing_visible_normals_cosine_uniform");
    const uint32_t rows = 6 * frames + 2, free_rows = is_untilted ? 3 * frames : is_tilted ? frames : 0;
    const struct {
        const char *name;
        uint32_t rows, columns, free;
    } heads[4] = {{"head0", 16, seen, 0},
                  {"head1", rows - free_rows, 16, free_rows},
                  {"split0", 24, seen + 3 * frames + 2, 0},
                  {"split1", 2 * frames + 3, 24, 0}};
    uint32_t index, stride;
    char name[32];
    *end = 0;
    if (!vd__tensor(&tensors, data, bytes, "frames", 8 * bundle->frame_count, bundle->channels + bundle->live_count,
                    target, end, &bundle->frames, &bundle->frames_stride))
        return 0;
    for (index = 0; index < bundle->layer_count; index++) {
        VdLayer *layer = &bundle->layer[index];
        snprintf(name, sizeof name, "layer%u.weights", (unsigned)index);
        if (!vd__tensor(&tensors, data, bytes, name, layer->outputs, layer->inputs, target, end, &layer->weights,
                        &layer->row_stride))
            return 0;
        snprintf(name, sizeof name, "layer%u.bias", (unsigned)index);
        if (!vd__tensor(&tensors, data, bytes, name, 0, layer->outputs, target, end, &layer->bias, &stride))
            return 0;
    }
    for (index = 0; index < 4; index++) {
        /* without a sampler, or with one of another kind, the place stays free */
        const int has = is_known && (index < 2 || split.at);
        uint8_t *const into = has ? target : 0;
        VdLayer *layer = &bundle->head[index];
        layer->inputs = heads[index].columns, layer->outputs = heads[index].rows + heads[index].free;
        snprintf(name, sizeof name, "%s.weights", heads[index].name);
        if (!vd__tensor(&tensors, data, bytes, name, heads[index].rows, heads[index].columns, into, end,
                        &layer->weights, &layer->row_stride))
            return 0;
        *end += heads[index].free * layer->row_stride;
        snprintf(name, sizeof name, "%s.bias", heads[index].name);
        if (!vd__tensor(&tensors, data, bytes, name, 0, heads[index].rows, into, end, &layer->bias, &stride))
            return 0;
        *end += heads[index].free * 2;
    }
    bundle->has_sampler = is_known;
    *end = vd__align(*end, 128);
    return 1;
}

/* Constants that an older sampler does not have change nothing: its outputs for them are 0. Its least cosine is one number. */
static int vd__sampler(VdBundle *bundle, const Vd__Field *root) {
    const Vd__Field table = vd__get(root, "sampler");
    VdSampler *found = &bundle->sampler;
    static const char *const names[] = {"slope", "width_minimum", "width_maximum", "weight_minimum", "view_cosine_minimum",
                                        "view_cosine_maximum", "tilt_share", "tilt_maximum", "lean_cosine_minimum"};
    float *const numbers[] = {&found->slope, &found->width_minimum, &found->width_maximum, &found->weight_minimum,
                              &found->view_cosine_minimum, &found->view_cosine_maximum, &found->tilt_share,
                              &found->tilt_maximum, &found->lean_cosine_minimum};
    uint32_t index;
    if (!bundle->has_sampler)
        return 1;
    found->lean_cosine_minimum = found->tilt_maximum = 1;
    for (index = 0; index < sizeof names / sizeof *names; index++) {
        const Vd__Field number = vd__get(&table, names[index]);
        double value = 0;
        const int is_positive = index < 7 ? index != 0 && index != 6 : 1;
        if (!number.at && index >= 5)
            continue;
        if (!vd__real(&number, is_positive ? 1e-6 : 0, 1e6, &value))
            return 0;
        *numbers[index] = (float)value;
    }
    if (found->view_cosine_maximum < found->view_cosine_minimum)
        found->view_cosine_maximum = found->view_cosine_minimum;
    return 1;
}

static int vd__constants(VdBundle *bundle, VdError *error) {
    const size_t count = bundle->weights_bytes / 2;
    size_t index, decoder;
    uint32_t layer, row, column;
    bundle->constants_bytes = 4 * count;
    bundle->constants = (float *)VD_MALLOC(bundle->constants_bytes);
    if (!bundle->constants)
        return vd__fail(error, "weights.bin", "memory", "used up", "free some");
    for (index = 0; index < count; index++)
        bundle->constants[index] = vd__at(bundle->weights + 2 * index);
    for (layer = 1; layer + 1 < bundle->layer_count; layer += 2) {
        const uint32_t step = bundle->layer[layer].row_stride / 2;
        for (decoder = 0; decoder < bundle->weights_bytes; decoder += bundle->decoder_bytes) {
            float *start = bundle->constants + (decoder + bundle->layer[layer].weights) / 2;
            for (row = 0; row < bundle->layer[layer].outputs; row++)
                for (column = 0; column < row; column++) {
                    float *first = &start[row * step + column], *second = &start[column * step + row];
                    const float kept = *first;
                    *first = *second;
                    *second = kept;
                }
        }
    }
    return 1;
}

/* ---- the manifest ---- */

static int vd__network(VdBundle *bundle, const Vd__Field *root) {
    static const char *const names[] = {"none", "silu", "relu", "leaky_relu", "leaky_smelu"};
    const Vd__Field network = vd__get(root, "network"), output = vd__get(&network, "output");
    const Vd__Field directions = vd__get(&network, "directions"), layers = vd__get(&network, "layers");
    const Vd__Field channels = vd__get(&network, "latent_channels"), inputs = vd__get(&network, "inputs");
    const Vd__Field frames = vd__get(&network, "frame_count"), lobes = vd__get(&output, "lobes");
    const Vd__Field transform = vd__get(&output, "transform"), way = vd__get(&directions, "parameterisation");
    const Vd__Field constants = vd__get(&network, "activation_constants");
    const Vd__Field shift = vd__get(&output, "shift"), limit = vd__get(&output, "limit");
    const Vd__Field live = vd__get(&network, "live_inputs");
    static const char *const direction_names[] = {"half_z_minimum", "length_epsilon", "stretch_limit",
                                                  "cosine_offset", "logarithm_share"};
    float *const direction[] = {&bundle->half_z_minimum, &bundle->length_epsilon, &bundle->stretch_limit,
                                &bundle->cosine_offset, &bundle->logarithm_share};
    Vd__Field each = vd__first(&layers);
    uint32_t index, unused, first;
    if (!vd__whole(&channels, 4, VD_CHANNELS, &bundle->channels) || !vd__whole(&frames, 1, 4, &bundle->frame_count))
        return 0;
    if (bundle->channels % 4)
        return vd__wrong(&channels, "it must be 4 or 8");
    if (live.at && !vd__whole(&live, 0, VD_MOST_LIVE, &bundle->live_count))
        return 0;
    first = bundle->channels + bundle->live_count + 10 * bundle->frame_count;
    if (!vd__whole(&lobes, 1, 4, &bundle->lobes) || !vd__whole(&inputs, first, first, &unused) ||
        !vd__single(&shift, 3e38, &bundle->shift) || !vd__single(&limit, 3e38, &bundle->limit))
        return 0;
    if (!vd__is(&transform, "sum_of_exp"))
        return vd__wrong(&transform, "this is unknown: use a newer verdigris.h");
    if (!vd__is(&way, "stretched_half_difference_cosines"))
        return vd__wrong(&way, "this is unknown: use a newer verdigris.h");
    for (index = 0; index < 5; index++) {
        const Vd__Field number = vd__get(&directions, direction_names[index]);
        if (!vd__single(&number, 1e6, direction[index]))
            return 0;
    }
    for (; each.at; each.at = vd__of(&each)->next) {
        const Vd__Field in = vd__get(&each, "inputs"), out = vd__get(&each, "outputs");
        const Vd__Field activation = vd__get(&each, "activation");
        VdLayer *layer = &bundle->layer[bundle->layer_count];
        int kind = 0;
        if (bundle->layer_count == VD_MOST_LAYERS)
            return vd__wrong(&layers, "it has more than 9 layers");
        if (!vd__whole(&in, 1, 256, &layer->inputs) || !vd__whole(&out, 1, 256, &layer->outputs))
            return 0;
        for (; kind < 5 && !vd__is(&activation, names[kind]); kind++)
            ;
        if (kind == 5)
            return vd__wrong(&activation, "this is unknown: use a newer verdigris.h");
        layer->activation = (VdActivation)kind;
        if (bundle->layer_count ? layer->inputs != layer[-1].outputs : layer->inputs != first)
            return vd__wrong(&in, "it does not fit the layer before");
        /* every second matrix is transposed in place */
        if (bundle->layer_count > 1 && layer->inputs != bundle->layer[0].outputs)
            return vd__wrong(&in, "all hidden layers must have one width");
        bundle->layer_count++;
    }
    if (bundle->layer_count < 2)
        return vd__wrong(&layers, "it must have two layers or more");
    index = bundle->layer_count - 1;
    if (bundle->layer[index].outputs != 3 * bundle->lobes || bundle->layer[index].activation != VD_NONE)
        return vd__wrong(&layers, "the last layer must have 3 outputs for each lobe, and no activation");
    bundle->width = 1;
    for (index = 0; index < 2; index++) {
        const Vd__Field number = vd__get(&constants, index ? "width" : "slope");
        float *const target = index ? &bundle->width : &bundle->slope;
        const int needs = bundle->layer[0].activation >= (index ? VD_LEAKY_SMELU : VD_LEAKY_RELU);
        if (needs && !vd__single(&number, 1e6, target))
            return 0;
    }
    if (!(bundle->width > 0))
        return vd__wrong(&constants, "width must be above 0");
    return 1;
}

static int vd__live(VdBundle *bundle, const Vd__Field *root) {
    const Vd__Field inputs = vd__get(root, "live");
    Vd__Field each = vd__first(&inputs);
    uint32_t index;
    for (index = 0; index < bundle->live_count; index++, each.at = vd__of(&each)->next) {
        VdLiveInput *live = &bundle->live[index];
        Vd__Field name, type, low, high, begin;
        uint32_t count;
        if (!each.at)
            return vd__wrong(&inputs, "it must have an entry for each live input of the network");
        name = vd__get(&each, "name"), type = vd__get(&each, "type"), begin = vd__get(&each, "default");
        low = vd__get(&each, "low"), high = vd__get(&each, "high");
        if (!vd__copy_text(&name, live->name, sizeof live->name) ||
            !vd__copy_text(&type, live->type, sizeof live->type) || !vd__single(&begin, 1, &bundle->record.live[index]))
            return 0;
        count = vd__is(&type, "color3") ? 3 : 1;
        if (count == 3 ? !vd__floats(&low, 3, 1e30, live->low) || !vd__floats(&high, 3, 1e30, live->high)
                       : !vd__single(&low, 1e30, live->low) || !vd__single(&high, 1e30, live->high))
            return 0;
    }
    return 1;
}

static int vd__bounds(VdBundle *bundle, const Vd__Field *root) {
    const Vd__Field bounds = vd__get(root, "bounds");
    const Vd__Field relative = vd__get(&bounds, "relative"), absolute = vd__get(&bounds, "absolute");
    const Vd__Field least = vd__get(&bounds, "floor");
    return vd__real(&relative, 0, 1e30, &bundle->relative) && vd__real(&absolute, 0, 1e30, &bundle->absolute) &&
           vd__real(&least, 1e-30, 1e30, &bundle->floor);
}

static int vd__heights(VdBundle *bundle, const Vd__Field *root) {
    const Vd__Field record = vd__get(root, "relief"), width = vd__get(&record, "width");
    const Vd__Field scale = vd__get(&record, "scale"), midlevel = vd__get(&record, "midlevel");
    const VdTexture *heights = &bundle->relief;
    double found = 0;
    if (!record.at)
        return 1;
    if ((heights->width & (heights->width - 1)) || (heights->height & (heights->height - 1)))
        return vd__wrong(&width, "width and height must be powers of two");
    if (!vd__real(&scale, 1.1754943e-38, 1e30, &found) || !vd__single(&midlevel, 1e30, &bundle->relief_midlevel))
        return 0;
    bundle->relief_scale = (float)found;
    return 1;
}

/* The decoder for light from below a surface that transmits, behind the first. */
static int vd__below(VdBundle *bundle, const Vd__Field *root, VdRead read, void *user) {
    const Vd__Field table = vd__get(root, "transmission"), index = vd__get(&table, "index");
    const Vd__Field weights = vd__get(&table, "weights"), reference = vd__get(&table, "reference");
    double number = 0;
    uint8_t *data = 0;
    size_t bytes = 0;
    uint32_t size = 0;
    int holds;
    if (!vd__real(&index, 0.05, 20, &number) || (reference.at && !vd__file_name(&reference, bundle->reference_below)) ||
        !vd__read_record(&weights, read, user, VD__MOST_WEIGHTS, &data, &bytes))
        return 0;
    bundle->index = (float)number;
    holds = vd__tensors(bundle, root, data, bytes, bundle->weights + bundle->decoder_bytes, &size);
    VD_FREE(data);
    return holds;
}

static int vd__load(VdBundle *bundle, Vd__Json *json, VdRead read, void *user) {
    const Vd__Field root = {json, 1, ""};
    const Vd__Field format = vd__get(&root, "format"), version = vd__get(&root, "version");
    const Vd__Field name = vd__get(&root, "name"), weights = vd__get(&root, "weights");
    const Vd__Field latents = vd__get(&root, "latents"), reference = vd__get(&root, "reference");
    const Vd__Field scale = vd__get(&latents, "scale"), offset = vd__get(&latents, "offset");
    const Vd__Field arithmetic = vd__get(&root, "arithmetic"), advised = vd__get(&arithmetic, "advised");
    const Vd__Field below = vd__get(&root, "transmission");
    const size_t decoders = below.at ? 2 : 1;
    VdRecord *record = &bundle->record;
    uint8_t *data = 0;
    size_t bytes = 0;
    uint32_t size = 0, index;
    int holds;
    if (vd__is(&format, "verdigris.scene"))
        return vd__wrong(&format, "this is a scene pack: open the bundles that it was made of");
    if (!vd__is(&format, "verdigris.material"))
        return vd__wrong(&format, "it must be verdigris.material");
    if (!version.at || vd__of(&version)->kind != VD__TEXT || vd__of(&version)->length < 3 ||
        memcmp(vd__of(&version)->text, "4.", 2))
        return vd__wrong(&version, "this reads 4.x: use the verdigris.h of that version");
    if (!vd__copy_text(&name, bundle->name, sizeof bundle->name) || !vd__network(bundle, &root) ||
        !vd__live(bundle, &root) || !vd__bounds(bundle, &root))
        return 0;
    /* a training that a live link shows has none */
    if (reference.at && !vd__file_name(&reference, bundle->reference))
        return 0;
    if (advised.at && !vd__copy_text(&advised, bundle->advised, sizeof bundle->advised))
        return 0;
    if (!vd__read_record(&weights, read, user, VD__MOST_WEIGHTS, &data, &bytes))
        return 0;
    holds = vd__tensors(bundle, &root, data, bytes, 0, &size);
    if (holds && !(bundle->weights = (uint8_t *)VD_MALLOC(decoders * size)))
        holds = vd__fail(json->error, "weights.bin", "memory", "used up", "free some");
    if (holds) {
        memset(bundle->weights, 0, decoders * size);
        bundle->decoder_bytes = size;
        bundle->weights_bytes = decoders * size;
        holds = vd__tensors(bundle, &root, data, bytes, bundle->weights, &size);
    }
    VD_FREE(data);
    if (!holds || !vd__sampler(bundle, &root) || (below.at && !vd__below(bundle, &root, read, user)) ||
        !vd__constants(bundle, json->error))
        return 0;
    if (!latents.at)
        return vd__wrong(&latents, "write the bundle again");
    if (!vd__texture(&bundle->latents, &root, "latents", VD__LATENTS, bundle->channels / 4, read, user) ||
        !vd__texture(&bundle->emission, &root, "emission", VD__EMISSION, 0, read, user) ||
        !vd__texture(&bundle->opacity, &root, "opacity", VD__OPACITY, 0, read, user) ||
        !vd__texture(&bundle->proxies, &root, "proxies", VD__PROXIES, 5, read, user) ||
        !vd__texture(&bundle->transmitted_albedo, &below, "albedo", VD__PROXIES, 0, read, user) ||
        !vd__texture(&bundle->relief, &root, "relief", VD__RELIEF, 0, read, user) || !vd__heights(bundle, &root) ||
        !vd__floats(&scale, bundle->channels, 1e30, record->scale) ||
        !vd__floats(&offset, bundle->channels, 1e30, record->offset))
        return 0;
    record->width = bundle->latents.width;
    record->height = bundle->latents.height;
    record->levels = bundle->latents.levels;
    for (index = 0; index + 1 < bundle->layer_count; index++)
        record->matrix[index] = bundle->layer[index].weights;
    if (below.at) {
        bundle->record_below = *record;
        bundle->record_below.weights = size;
        bundle->record_below.live[0] = bundle->index;
        for (index = 0; index + 1 < bundle->layer_count; index++)
            bundle->record_below.matrix[index] += size;
    }
    return 1;
}

int vd_open_with(VdBundle *bundle, VdRead read, void *user, VdError *error) {
    uint8_t *data = 0;
    size_t bytes = 0;
    Vd__Json json;
    int holds;
    memset(bundle, 0, sizeof *bundle);
    if (error)
        error->text[0] = 0;
    if (!read(user, "manifest.json", VD__MOST_MANIFEST, &data, &bytes))
        return vd__fail(error, "manifest.json", "the file", "missing, not a plain file, or too large", "name the folder of a bundle");
    holds = vd__parse(&json, "manifest.json", data, bytes, VD__MANIFEST_VALUES, error) && vd__load(bundle, &json, read, user);
    vd__free(&json);
    VD_FREE(data);
    if (!holds)
        vd_close(bundle);
    return holds;
}

void vd_close(VdBundle *bundle) {
    VD_FREE(bundle->weights);
    VD_FREE(bundle->constants);
    VD_FREE(bundle->latents.memory);
    VD_FREE(bundle->emission.memory);
    VD_FREE(bundle->opacity.memory);
    VD_FREE(bundle->proxies.memory);
    VD_FREE(bundle->transmitted_albedo.memory);
    VD_FREE(bundle->relief.memory);
    memset(bundle, 0, sizeof *bundle);
}

/* ---- BC7 ---- */

static uint32_t vd__bits(const uint8_t *block, uint32_t at, uint32_t count) {
    uint32_t value = 0, i;
    for (i = 0; i < count; i++)
        value |= (uint32_t)(block[(at + i) / 8] >> ((at + i) % 8) & 1) << i;
    return value;
}

/* A value from its end points; weights are of 64. */
static uint8_t vd__between(uint32_t first, uint32_t second, uint32_t weight) {
    return (uint8_t)(((64 - weight) * first + weight * second + 32) >> 6);
}

/* Weight of a texel whose indices have `size` bits each from bit `at` on; the first has one less. */
static uint32_t vd__weight(const uint8_t *block, uint32_t at, uint32_t size, uint32_t texel) {
    static const uint8_t weights[3][16] = {{0, 21, 43, 64}, {0, 9, 18, 27, 37, 46, 55, 64},
                                           {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64}};
    return weights[size - 2][texel ? vd__bits(block, at + size * texel - 1, size) : vd__bits(block, at, size - 1)];
}

/* An end point with its bits repeated to fill a byte. */
static uint32_t vd__end_point(const uint8_t *block, uint32_t at, uint32_t size) {
    const uint32_t bits = vd__bits(block, at, size) << (8 - size);
    return bits | bits >> size;
}

/* The mode, if it is 4, 5 or 6, which Verdigris writes: they have one pair of end points. Otherwise 0. */
static int vd__bc7_mode(const uint8_t *block) {
    return (block[0] & 31) == 16 ? 4 : (block[0] & 63) == 32 ? 5 : (block[0] & 127) == 64 ? 6 : 0;
}

static void vd__bc7_texel(const uint8_t *block, uint32_t texel, uint8_t rgba[4]) {
    const int mode = vd__bc7_mode(block);
    const uint32_t size = mode == 4 ? 5 : 7, start = mode == 6 ? 7 : 8;
    uint32_t turn, channel, weight, alpha_weight;
    if (mode == 6) {
        weight = vd__weight(block, 65, 4, texel);
        for (channel = 0; channel < 4; channel++)
            rgba[channel] = vd__between(2 * vd__bits(block, 7 + 14 * channel, 7) + vd__bits(block, 63, 1),
                                        2 * vd__bits(block, 14 + 14 * channel, 7) + vd__bits(block, 64, 1), weight);
        return;
    }
    turn = vd__bits(block, mode == 4 ? 5 : 6, 2);
    weight = mode == 4 ? vd__weight(block, 50, 2, texel) : vd__weight(block, 66, 2, texel);
    alpha_weight = mode == 4 ? vd__weight(block, 81, 3, texel) : vd__weight(block, 97, 2, texel);
    if (mode == 4 && vd__bits(block, 7, 1)) {
        const uint32_t kept = weight;
        weight = alpha_weight, alpha_weight = kept;
    }
    for (channel = 0; channel < 3; channel++)
        rgba[channel] = vd__between(vd__end_point(block, start + 2 * size * channel, size),
                                    vd__end_point(block, start + 2 * size * channel + size, size), weight);
    rgba[3] = mode == 4 ? vd__between(vd__end_point(block, 38, 6), vd__end_point(block, 44, 6), alpha_weight)
                        : vd__between(vd__bits(block, 50, 8), vd__bits(block, 58, 8), alpha_weight);
    if (turn) {
        const uint8_t kept = rgba[3];
        rgba[3] = rgba[turn - 1];
        rgba[turn - 1] = kept;
    }
}

static const uint8_t *vd__block(const VdLevel *level, uint32_t layer, uint32_t x, uint32_t y) {
    const size_t columns = (level->width + 3) / 4, rows = (level->height + 3) / 4;
    return level->data + 16 * ((layer * rows + y / 4) * columns + x / 4);
}

static int vd__check_blocks(const VdTexture *texture, VdError *error) {
    uint32_t level;
    size_t at;
    if (!vd__is_block(texture->format))
        return 1;
    if (texture->format != VD_BC7_UNORM_BLOCK)
        return vd__fail(error, "latents.ktx2", "vkFormat", vd__format(texture->format)->name,
                        "only devices decode it: upload the blocks, or check the bundle that it was exported from");
    for (level = 0; level < texture->levels; level++)
        for (at = 0; at < texture->level[level].bytes; at += 16)
            if (!vd__bc7_mode(texture->level[level].data + at))
                return vd__fail_number(error, "latents.ktx2", "the first byte of a BC7 block",
                                       texture->level[level].data[at], "only modes 4, 5 and 6 can be read here: upload the blocks as they are");
    return 1;
}

int vd_unpack_latents(VdBundle *bundle, VdError *error) {
    VdTexture plain = bundle->latents;
    uint32_t level, layer, x, y;
    size_t size = 0;
    uint8_t *to;
    if (!vd__is_block(plain.format))
        return 1;
    if (!vd__check_blocks(&plain, error))
        return 0;
    plain.format = VD_R8G8B8A8_UNORM;
    vd__place_levels(&plain);
    for (level = 0; level < plain.levels; level++)
        size += plain.level[level].bytes;
    if (!(to = plain.memory = (uint8_t *)VD_MALLOC(size)))
        return vd__fail(error, "latents.ktx2", "memory", "used up", "free some");
    for (level = 0; level < plain.levels; level++) {
        const VdLevel *from = &bundle->latents.level[level];
        plain.level[level].data = to;
        for (layer = 0; layer < plain.layers; layer++)
            for (y = 0; y < from->height; y++)
                for (x = 0; x < from->width; x++, to += 4)
                    vd__bc7_texel(vd__block(from, layer, x, y), 4 * (y % 4) + x % 4, to);
    }
    VD_FREE(bundle->latents.memory);
    bundle->latents = plain;
    return 1;
}

/* ---- the decoder ---- */

static void vd__texel(const VdTexture *texture, uint32_t level, uint32_t x, uint32_t y, float *channels) {
    const VdLevel *from = &texture->level[level];
    uint32_t layer, c;
    for (layer = 0; layer < texture->layers; layer++) {
        const size_t place = ((size_t)layer * from->height + y) * from->width + x;
        uint8_t rgba[4];
        const uint8_t *bytes = rgba;
        if (texture->format == VD_BC7_UNORM_BLOCK)
            vd__bc7_texel(vd__block(from, layer, x, y), 4 * (y % 4) + x % 4, rgba);
        else if (vd__is_block(texture->format))
            memset(rgba, 0, sizeof rgba); /* vd_check refuses it */
        else
            bytes = from->data + vd__format(texture->format)->bytes * place;
        for (c = 0; c < 4; c++)
            channels[4 * layer + c] = texture->format == VD_R16G16B16A16_SFLOAT ? vd__at(bytes + 2 * c)
                                                                                : (float)bytes[c] / 255.0f;
    }
}

static void vd__bilinear(const VdTexture *texture, uint32_t level, const float uv[2], float *channels) {
    const uint32_t size[2] = {texture->level[level].width, texture->level[level].height};
    uint32_t at[2][2], c, corner;
    float part[2];
    for (c = 0; c < 2; c++) {
        const float turn = uv[c] - floorf(uv[c]); /* NaN if uv is NaN */
        const float place = (turn >= 0 ? turn : 0) * (float)size[c] - 0.5f;
        const float before = floorf(place);
        part[c] = place - before;
        at[c][0] = (uint32_t)((int32_t)before + (int32_t)size[c]) % size[c];
        at[c][1] = (at[c][0] + 1) % size[c];
    }
    memset(channels, 0, 4 * texture->layers * sizeof *channels);
    for (corner = 0; corner < 4; corner++) {
        const uint32_t right = corner & 1, upper = corner >> 1;
        const float weight = (right ? part[0] : 1 - part[0]) * (upper ? part[1] : 1 - part[1]);
        float texel[VD_CHANNELS];
        vd__texel(texture, level, at[0][right], at[1][upper], texel);
        for (c = 0; c < 4 * texture->layers; c++)
            channels[c] += weight * texel[c];
    }
}

static void vd__latent(const VdBundle *bundle, const float uv[2], float lod, float *latent) {
    const float most = (float)(bundle->latents.levels - 1);
    float level = lod / 2 > lod - 1 ? lod / 2 : lod - 1, coarse[VD_CHANNELS];
    uint32_t finer, c;
    level = level > 0 ? (level < most ? level : most) : 0;
    finer = (uint32_t)level;
    vd__bilinear(&bundle->latents, finer, uv, latent);
    if (level > (float)finer) {
        vd__bilinear(&bundle->latents, finer + 1, uv, coarse);
        for (c = 0; c < bundle->channels; c++)
            latent[c] += (coarse[c] - latent[c]) * (level - (float)finer);
    }
    for (c = 0; c < bundle->channels; c++)
        latent[c] = bundle->record.offset[c] + bundle->record.scale[c] * latent[c];
}

static float vd__dot(const float *a, const float *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void vd__normalise(const VdBundle *bundle, float v[3]) {
    const float length = sqrtf(vd__dot(v, v));
    const float divisor = length > bundle->length_epsilon ? length : bundle->length_epsilon;
    v[0] /= divisor, v[1] /= divisor, v[2] /= divisor;
}

static float vd__logarithm(const VdBundle *bundle, float cosine) {
    return bundle->logarithm_share * logf((cosine > 0 ? cosine : 0) + bundle->cosine_offset);
}

static float vd__activate(const VdBundle *bundle, VdActivation activation, float x) {
    switch (activation) {
    case VD_SILU: return x / (1 + expf(-x));
    case VD_RELU: return x > 0 ? x : 0;
    case VD_LEAKY_RELU: return x > bundle->slope * x ? x : bundle->slope * x;
    case VD_LEAKY_SMELU: {
        const float w = bundle->width, moved = x + w;
        const float q = moved < 0 ? 0 : moved > 2 * w ? 2 * w : moved;
        return bundle->slope * x + (1 - bundle->slope) * (q * q / (4 * w) + (x > w ? x - w : 0));
    }
    default: return x;
    }
}

static void vd__cross(const float a[3], const float b[3], float product[3]) {
    product[0] = a[1] * b[2] - a[2] * b[1], product[1] = a[2] * b[0] - a[0] * b[2], product[2] = a[0] * b[1] - a[1] * b[0];
}

/* Components in a frame. */
static void vd__local(const VdFrame *frame, const float v[3], float local[3]) {
    local[0] = vd__dot(frame->axes[0], v), local[1] = vd__dot(frame->axes[1], v), local[2] = vd__dot(frame->axes[2], v);
}

/* The tangent across the normal, and the bitangent. */
static void vd__square(const VdBundle *bundle, VdFrame *frame) {
    float *const t = frame->axes[0], *const n = frame->axes[2];
    const float along = vd__dot(n, t);
    int i;
    for (i = 0; i < 3; i++)
        t[i] -= n[i] * along;
    vd__normalise(bundle, t);
    vd__cross(n, t, frame->axes[1]);
}

/* Step 3 of FORMAT.md, for all learned frames. */
static void vd__frames(const VdBundle *bundle, const uint8_t *weights, const float *latent, const float wo[3],
                       VdFrame *frames) {
    const VdLayer rows = {bundle->channels + bundle->live_count, 8, bundle->frames, 0, bundle->frames_stride, VD_NONE};
    uint32_t each, row, column, i;
    for (each = 0; each < bundle->frame_count; each++) {
        VdFrame *frame = &frames[each];
        float r[8];
        for (row = 0; row < 8; row++) {
            const uint8_t *from = weights + rows.weights + rows.row_stride * (8 * each + row);
            for (r[row] = 0, column = 0; column < rows.inputs; column++)
                r[row] += vd__at(from + 2 * column) * latent[column];
        }
        frame->axes[2][0] = r[0], frame->axes[2][1] = r[1], frame->axes[2][2] = r[2] + 1;
        frame->axes[0][0] = r[3] + 1, frame->axes[0][1] = r[4], frame->axes[0][2] = r[5];
        vd__normalise(bundle, frame->axes[2]);
        vd__square(bundle, frame);
        for (i = 0; i < 2; i++)
            frame->width[i] = expf(bundle->stretch_limit * tanhf(r[6 + i] / bundle->stretch_limit));
        vd__local(frame, wo, frame->seen);
    }
}

/* Step 4 of FORMAT.md: inputs of the network for one learned frame. */
static void vd__frame_inputs(const VdBundle *bundle, const VdFrame *frame, const float wi[3], float *inputs) {
    const float *c = frame->seen;
    float h[3], a[3], g[3], cosine, s;
    int i;
    vd__local(frame, wi, a);
    for (i = 0; i < 3; i++)
        h[i] = a[i] + c[i];
    vd__normalise(bundle, h);
    cosine = vd__dot(h, a);
    s = 1 + h[2] > bundle->half_z_minimum ? 1 + h[2] : bundle->half_z_minimum;
    s = (cosine + a[2]) / s;
    g[0] = h[0] * frame->width[0], g[1] = h[1] * frame->width[1], g[2] = h[2];
    vd__normalise(bundle, g);
    memcpy(inputs, g, sizeof g);
    inputs[3] = a[0] - h[0] * s, inputs[4] = a[1] - h[1] * s, inputs[5] = cosine;
    inputs[6] = a[2], inputs[7] = c[2];
    inputs[8] = vd__logarithm(bundle, a[2]), inputs[9] = vd__logarithm(bundle, c[2]);
}

/* y = weights * x + bias */
static void vd__layer(const uint8_t *weights, const VdLayer *layer, const float *x, float *y) {
    uint32_t row, column;
    for (row = 0; row < layer->outputs; row++) {
        const uint8_t *from = weights + layer->weights + row * layer->row_stride;
        y[row] = vd__at(weights + layer->bias + 2 * row);
        for (column = 0; column < layer->inputs; column++)
            y[row] += vd__at(from + 2 * column) * x[column];
    }
}

/* Steps 4 to 6 of FORMAT.md, for light on the side of the decoder. */
static void vd__respond(const VdBundle *bundle, const uint8_t *weights, const float *latent, const VdFrame *frames,
                        const float wi[3], float response[3]) {
    const uint32_t place = bundle->channels + bundle->live_count;
    float x[256], y[256];
    uint32_t index, row, lobe;
    memcpy(x, latent, place * sizeof *x);
    for (index = 0; index < bundle->frame_count; index++)
        vd__frame_inputs(bundle, &frames[index], wi, x + place + 10 * index);
    for (index = 0; index < bundle->layer_count; index++) {
        vd__layer(weights, &bundle->layer[index], x, y);
        for (row = 0; row < bundle->layer[index].outputs; row++)
            x[row] = vd__activate(bundle, bundle->layer[index].activation, y[row]);
    }
    for (lobe = 0; lobe < bundle->lobes; lobe++)
        for (index = 0; index < 3; index++) {
            const float raised = x[3 * lobe + index] - bundle->shift;
            response[index] += expf(raised < bundle->limit ? raised : bundle->limit);
        }
}

/* Light from below, mirrored to the side of the viewer. Straight down where no facet refracts it to the viewer. */
static void vd__mirror(const VdBundle *bundle, const float wi[3], const float wo[3], float mirrored[3]) {
    double h[3], length = 0, seen = 0, lit = 0;
    int i;
    mirrored[0] = wi[0], mirrored[1] = wi[1], mirrored[2] = -wi[2];
    if (bundle->index == 1)
        return;
    for (i = 0; i < 3; i++) {
        h[i] = -((double)wo[i] + (double)bundle->index * wi[i]);
        length += h[i] * h[i];
    }
    length = (h[2] < 0 ? -1 : 1) * (length > 1e-12 ? sqrt(length) : 1e-6);
    for (i = 0; i < 3; i++) {
        h[i] /= length;
        seen += wo[i] * h[i];
        lit += wi[i] * h[i];
    }
    for (i = 0; i < 3; i++)
        mirrored[i] = seen > 0 && lit < 0 ? (float)(2 * seen * h[i] - wo[i]) : i == 2 ? -1.0f : 0.0f;
}

/* The inverse: returns 0 where no light passes. */
static int vd__pass(const VdBundle *bundle, const float mirrored[3], const float wo[3], float wi[3]) {
    const double index = bundle->index;
    double h[3], length = 0, seen = 0, inner;
    int i;
    wi[0] = mirrored[0], wi[1] = mirrored[1], wi[2] = -mirrored[2];
    if (mirrored[2] <= 0 || wo[2] <= 0 || index == 1)
        return mirrored[2] > 0 && wo[2] > 0;
    for (i = 0; i < 3; i++) {
        h[i] = (double)mirrored[i] + wo[i];
        length += h[i] * h[i];
    }
    for (i = 0; i < 3; i++)
        seen += wo[i] * (h[i] /= sqrt(length));
    inner = 1 - (1 - seen * seen) / (index * index);
    for (i = 0; inner > 0 && i < 3; i++)
        wi[i] = (float)((seen / index - sqrt(inner)) * h[i] - wo[i] / index);
    return inner > 0 && wi[2] < 0;
}

void vd_decode(const VdBundle *bundle, const float uv[2], float lod, const float wi[3], const float wo[3],
               float response[3]) {
    vd_decode_live(bundle, uv, lod, wi, wo, bundle->record.live, response);
}

/* The latent, behind it the values of live inputs. */
static void vd__place(const VdBundle *bundle, const float uv[2], float lod, const float *live, float *latent) {
    uint32_t index;
    vd__latent(bundle, uv, lod, latent);
    for (index = 0; index < bundle->live_count; index++)
        latent[bundle->channels + index] = live[index];
}

void vd_decode_live(const VdBundle *bundle, const float uv[2], float lod, const float wi[3], const float wo[3],
                    const float live[VD_MOST_LIVE], float response[3]) {
    const uint8_t *weights = bundle->weights;
    float latent[VD_CHANNELS + VD_MOST_LIVE], mirrored[3];
    VdFrame frames[VD_MOST_FRAMES];
    response[0] = response[1] = response[2] = 0;
    if (wi[2] < 0 && bundle->index > 0) {
        vd__mirror(bundle, wi, wo, mirrored);
        wi = mirrored;
        weights += bundle->decoder_bytes;
    }
    if (!(wi[2] > 0) || !(wo[2] > 0))
        return;
    vd__place(bundle, uv, lod, live, latent);
    vd__frames(bundle, weights, latent, wo, frames);
    vd__respond(bundle, weights, latent, frames, wi, response);
}

/* ---- the sampler ---- */

#define VD__PI 3.14159265f
#define VD__BELOW_ONE 0.99999994f

static float vd__clamp(float x, float least, float most) { return x > least ? x < most ? x : most : least; }

static float vd__max(float a, float b) { return a > b ? a : b; }

/* From components in a frame. */
static void vd__to_surface(const VdFrame *frame, const float local[3], float v[3]) {
    int i;
    for (i = 0; i < 3; i++)
        v[i] = frame->axes[0][i] * local[0] + frame->axes[1][i] * local[1] + frame->axes[2][i] * local[2];
}

static uint32_t vd__head_inputs(const VdSurface *surface, int side, float *inputs) {
    const VdBundle *bundle = surface->bundle;
    uint32_t count = bundle->channels + bundle->live_count, each;
    memcpy(inputs, surface->latent, count * sizeof *inputs);
    for (each = 0; each <= bundle->frame_count; each++) {
        const float cosine = each < bundle->frame_count ? surface->frame[side][each].seen[2] : surface->wo[2];
        inputs[count++] = cosine;
        inputs[count++] = vd__logarithm(bundle, cosine);
    }
    return count;
}

/* Both layers of a head: 0 is the sampler's, 2 that of split-sum lighting. */
static void vd__head(const VdSurface *surface, int side, int head, const float *inputs, float *outputs) {
    const VdBundle *bundle = surface->bundle;
    const uint8_t *weights = bundle->weights + (side ? bundle->decoder_bytes : 0);
    float hidden[24];
    uint32_t row;
    vd__layer(weights, &bundle->head[head], inputs, hidden);
    for (row = 0; row < bundle->head[head].outputs; row++)
        hidden[row] = vd__max(hidden[row], bundle->sampler.slope * hidden[row]);
    vd__layer(weights, &bundle->head[head + 1], hidden, outputs);
}

static void vd__lobes(VdSurface *surface, int side) {
    const VdBundle *bundle = surface->bundle;
    const VdSampler *limits = &bundle->sampler;
    const uint32_t count = bundle->frame_count;
    float inputs[VD_CHANNELS + VD_MOST_LIVE + 2 * VD_MOST_FRAMES + 2], y[6 * VD_MOST_FRAMES + 2];
    float *const weight = surface->weight[side], largest, total = 0;
    uint32_t each, i;
    for (each = 0; each < count + 2; each++)
        weight[each] = each < count ? 0.0f : 0.5f;
    memcpy(surface->lobe[side], surface->frame[side], sizeof surface->lobe[side]);
    if (!bundle->has_sampler)
        return;
    vd__head_inputs(surface, side, inputs);
    vd__head(surface, side, 0, inputs, y);
    for (largest = y[2 * count], each = 1; each < count + 2; each++)
        largest = vd__max(largest, y[2 * count + each]);
    for (each = 0; each < count + 2; each++)
        total += weight[each] = expf(y[2 * count + each] - largest);
    for (each = 0; each < count + 2; each++)
        weight[each] = limits->weight_minimum + (1 - limits->weight_minimum * (float)(count + 2)) * weight[each] / total;
    for (each = 0; each < count; each++) {
        const VdFrame *frame = &surface->frame[side][each];
        VdFrame *lobe = &surface->lobe[side][each];
        float next[3], tilt[2], least;
        vd__local(frame, surface->frame[side][(each + 1) % count].axes[2], next);
        for (i = 0; i < 2; i++) {
            const float lean = y[5 * count + 2 + each] * next[i] / vd__max(next[2], limits->lean_cosine_minimum);
            tilt[i] = vd__clamp(limits->tilt_share * y[3 * count + 2 + 2 * each + i] + lean, -limits->tilt_maximum,
                                limits->tilt_maximum);
            /* beyond these numbers the limits hold, and expf could overflow */
            lobe->width[i] = vd__clamp(expf(vd__clamp(y[2 * each + i], -40, 40)) / frame->width[i], limits->width_minimum,
                                       limits->width_maximum);
        }
        for (i = 0; i < 3; i++)
            lobe->axes[2][i] = frame->axes[2][i] + tilt[0] * frame->axes[0][i] + tilt[1] * frame->axes[1][i];
        vd__normalise(bundle, lobe->axes[2]);
        vd__square(bundle, lobe);
        vd__local(lobe, surface->wo, lobe->seen);
        least = vd__clamp(vd__max(lobe->width[0], lobe->width[1]), limits->view_cosine_minimum, limits->view_cosine_maximum);
        lobe->seen[2] = vd__max(lobe->seen[2], least);
        vd__normalise(bundle, lobe->seen);
    }
}

/* Density of the view's reflections at visible normals (Heitz 2018). */
static float vd__ggx(const VdBundle *bundle, const VdFrame *lobe, const float wi[3]) {
    const float *v = lobe->seen, x = lobe->width[0], y = lobe->width[1];
    float a[3], h[3], spread, root;
    int i;
    vd__local(lobe, wi, a);
    for (i = 0; i < 3; i++)
        h[i] = a[i] + v[i];
    vd__normalise(bundle, h);
    if (!(h[2] > 0) || !(vd__dot(a, h) > 0))
        return 0;
    spread = h[0] / x * (h[0] / x) + h[1] / y * (h[1] / y) + h[2] * h[2];
    root = sqrtf(x * v[0] * (x * v[0]) + y * v[1] * (y * v[1]) + v[2] * v[2]);
    return 1 / (VD__PI * x * y * spread * spread * 2 * (v[2] + root));
}

/* Density of the mixture of one side, in its decoder's directions. */
static float vd__density(const VdSurface *surface, int side, const float wi[3]) {
    const uint32_t count = surface->bundle->frame_count;
    const float *weight = surface->weight[side];
    float density = wi[2] > 0 ? (weight[count] * wi[2] + 0.5f * weight[count + 1]) / VD__PI : 0;
    uint32_t each;
    for (each = 0; each < count; each++)
        if (weight[each] > 0)
            density += weight[each] * vd__ggx(surface->bundle, &surface->lobe[side][each], wi);
    return density;
}

static void vd__around(float z, float turn, float v[3]) {
    const float sine = sqrtf(vd__max(1 - z * z, 0));
    v[0] = sine * cosf(2 * VD__PI * turn), v[1] = sine * sinf(2 * VD__PI * turn), v[2] = z;
}

/* The view reflected at a visible normal, from a spherical cap (Dupuy and Benyoub 2023). */
static void vd__reflect(const VdBundle *bundle, const VdFrame *lobe, float turn, float height, float wi[3]) {
    const float *v = lobe->seen;
    float e[3] = {lobe->width[0] * v[0], lobe->width[1] * v[1], v[2]}, h[3], local[3], along;
    int i;
    vd__normalise(bundle, e);
    vd__around((1 - height) * (1 + e[2]) - e[2], turn, h);
    h[0] = lobe->width[0] * (h[0] + e[0]), h[1] = lobe->width[1] * (h[1] + e[1]), h[2] = vd__max(h[2] + e[2], 0);
    vd__normalise(bundle, h);
    along = 2 * vd__dot(h, v);
    for (i = 0; i < 3; i++)
        local[i] = along * h[i] - v[i];
    vd__to_surface(lobe, local, wi);
}

static void vd__draw(const VdSurface *surface, int side, float turn, float height, float wi[3]) {
    const uint32_t count = surface->bundle->frame_count;
    const float *weight = surface->weight[side];
    float before = 0;
    uint32_t lobe = 0;
    while (lobe < count + 1 && turn >= before + weight[lobe])
        before += weight[lobe++];
    turn = vd__clamp((turn - before) / weight[lobe], 0, VD__BELOW_ONE);
    if (lobe >= count)
        vd__around(lobe == count ? sqrtf(1 - height) : height, turn, wi);
    else
        vd__reflect(surface->bundle, &surface->lobe[side][lobe], turn, height, wi);
}

/* The density of a direction of light from below by that of its mirrored one. */
static float vd__change(const VdSurface *surface, const float wi[3], const float mirrored[3]) {
    const double index = surface->bundle->index;
    double h[3], length = 0, seen = 0, lit = 0;
    int i;
    if (index == 1)
        return 1;
    for (i = 0; i < 3; i++) {
        h[i] = (double)mirrored[i] + surface->wo[i];
        length += h[i] * h[i];
    }
    for (i = 0; i < 3; i++) {
        h[i] /= length > 1e-12 ? sqrt(length) : 1e-6;
        seen += surface->wo[i] * h[i];
        lit += wi[i] * h[i];
    }
    length = seen + index * lit;
    length *= length;
    return (float)(4 * seen * index * index * fabs(lit) / (length > 1e-6 ? length : 1e-6));
}

void vd_prepare(const VdBundle *bundle, const float uv[2], float lod, const float wo[3], const float *live, float share,
                VdSurface *surface) {
    int side;
    memset(surface, 0, sizeof *surface);
    surface->bundle = bundle;
    surface->share = bundle->index > 0 ? share : 1;
    memcpy(surface->wo, wo, sizeof surface->wo);
    vd__place(bundle, uv, lod, live ? live : bundle->record.live, surface->latent);
    for (side = 0; side < (bundle->index > 0 ? 2 : 1); side++) {
        const uint8_t *weights = bundle->weights + (side ? bundle->decoder_bytes : 0);
        vd__frames(bundle, weights, surface->latent, wo, surface->frame[side]);
        vd__lobes(surface, side);
    }
}

/* The response to light on the side of the decoder. */
static void vd__shade(const VdSurface *surface, int side, const float wi[3], float response[3]) {
    const VdBundle *bundle = surface->bundle;
    response[0] = response[1] = response[2] = 0;
    if (wi[2] > 0 && surface->wo[2] > 0)
        vd__respond(bundle, bundle->weights + (side ? bundle->decoder_bytes : 0), surface->latent, surface->frame[side], wi,
                    response);
}

void vd_shade(const VdSurface *surface, const float wi[3], float response[3]) {
    const int side = wi[2] < 0 && surface->bundle->index > 0;
    float mirrored[3];
    if (side)
        vd__mirror(surface->bundle, wi, surface->wo, mirrored);
    vd__shade(surface, side, side ? mirrored : wi, response);
}

float vd_pdf(const VdSurface *surface, const float wi[3]) {
    float mirrored[3];
    if (!(surface->bundle->index > 0) || wi[2] >= 0)
        return surface->share * vd__density(surface, 0, wi);
    vd__mirror(surface->bundle, wi, surface->wo, mirrored);
    if (!(mirrored[2] > 0))
        return 0;
    return (1 - surface->share) * vd__density(surface, 1, mirrored) * vd__change(surface, wi, mirrored);
}

int vd_draw(const VdSurface *surface, const float random[2], float wi[3]) {
    const float share = surface->share;
    const int side = !(random[0] < share);
    const float turn = side ? (random[0] - share) / (1 - share) : random[0] / share;
    float mirrored[3];
    vd__draw(surface, side, vd__clamp(turn, 0, VD__BELOW_ONE), random[1], side ? mirrored : wi);
    return side ? vd__pass(surface->bundle, mirrored, surface->wo, wi) : wi[2] > 0 && surface->wo[2] > 0;
}

/* ---- light of an environment ---- */

/* Of each lobe the middle and both sides along its larger width, where the decoder is evaluated; look-ups at more points, six
   of them around the lobe; normals of diffuse light, 40 degrees beside the surface's. */
#define VD__SPLIT_POINTS 3
#define VD__BORDER_LOOKS 6
#define VD__FIXED_LOOKS 12
#define VD__GOLDEN 0.6180339887498949f
#define VD__TILT_SINE 0.6427876097f
#define VD__TILT_COSINE 0.7660444431f

/* The map where light from below a solid comes from: out of it again through a smooth interface, as of a sphere, on which the
   angles at both interfaces are equal. What is reflected inside goes on straight. */
static void vd__look(const VdSurface *surface, const VdEnvironment *environment, const float wi[3], float solid_angle,
                     float light[3]) {
    const float index = surface->bundle->index, cosine = -wi[2], outer2 = 1 - index * index * (1 - cosine * cosine);
    float from[3], outer, across, along, passed;
    int i;
    if (!(index > 0) || index == 1 || cosine <= 0 || outer2 <= 0) {
        environment->radiance(environment->user, wi, solid_angle, light);
        return;
    }
    outer = sqrtf(outer2);
    across = (index * cosine - outer) / (index * cosine + outer);
    along = (cosine - index * outer) / (cosine + index * outer);
    passed = 1 - 0.5f * (across * across + along * along);
    for (i = 0; i < 3; i++)
        from[i] = index * wi[i] + (outer - index * cosine) * ((i == 2 ? 1.0f : 0.0f) + 2 * cosine * wi[i]);
    vd__normalise(surface->bundle, from);
    environment->radiance(environment->user, from, solid_angle * index * index * cosine / vd__max(outer, 0.1f), light);
    for (i = 0; i < 3; i++)
        light[i] *= passed;
}

/* Irradiance of the map on a side, by pi. */
static void vd__flat(const VdEnvironment *environment, int side, float x, float y, float z, float light[3]) {
    const float normal[3] = {x, y, side ? -z : z};
    int i;
    environment->irradiance(environment->user, normal, light);
    for (i = 0; i < 3; i++)
        light[i] /= VD__PI;
}

void vd_environment_light(const VdSurface *surface, const VdEnvironment *environment, uint32_t samples,
                          const float random[2], float light[3]) {
    const uint32_t count = surface->bundle->frame_count;
    const int sides = surface->bundle->index == 1 ? 2 : 1;
    float albedo[2][3] = {{0}}, cosine_lobe[2][3] = {{0}};
    uint32_t sample;
    int i, side;
    light[0] = light[1] = light[2] = 0;
    for (sample = 0; sample < samples; sample++) {
        const float x = ((float)sample + 0.5f) / (float)samples + random[0], y = (float)sample * VD__GOLDEN + random[1];
        const float point[2] = {x - floorf(x), y - floorf(y)};
        float wi[3], response[3], found[3], density;
        if (!vd_draw(surface, point, wi) || !((density = vd_pdf(surface, wi)) > 0))
            continue;
        vd_shade(surface, wi, response);
        vd__look(surface, environment, wi, 1 / ((float)samples * density), found);
        side = wi[2] < 0;
        for (i = 0; i < 3; i++) {
            light[i] += response[i] / density * found[i];
            albedo[side][i] += response[i] / density;
            cosine_lobe[side][i] += fabsf(wi[2]) / (VD__PI * density) * found[i];
        }
    }
    /* the cosine lobe's light comes of the irradiance, which samples correct: a control variate, but not below a solid */
    for (side = 0; side < sides; side++) {
        const float diffuse = surface->weight[side][count] + surface->weight[side][count + 1];
        float flat[3];
        vd__flat(environment, side, 0, 0, 1, flat);
        for (i = 0; i < 3; i++)
            light[i] += diffuse * albedo[side][i] * (flat[i] - cosine_lobe[side][i] / (float)samples);
    }
    for (i = 0; i < 3; i++)
        light[i] = vd__max(light[i] / (float)samples, 0);
}

/* The map in the directions of a decoder. */
static void vd__look_side(const VdSurface *surface, const VdEnvironment *environment, int side, const float wi[3],
                          float solid_angle, float light[3]) {
    float from[3];
    light[0] = light[1] = light[2] = 0;
    if (!side)
        vd__look(surface, environment, wi, solid_angle, light);
    else if (vd__pass(surface->bundle, wi, surface->wo, from))
        vd__look(surface, environment, from, solid_angle / vd__max(vd__change(surface, from, wi), 1e-3f), light);
}

/* What a lobe draws for a point of the square, which begins along its larger width. */
static void vd__at_lobe(const VdSurface *surface, const VdFrame *lobe, float turn, float height, float wi[3]) {
    vd__reflect(surface->bundle, lobe, turn + (lobe->width[1] > lobe->width[0] ? 0.25f : 0), height, wi);
}

static void vd__ratio(const VdSurface *surface, int side, const float wi[3], float ratio[3]) {
    const float density = vd__density(surface, side, wi);
    int i;
    vd__shade(surface, side, wi, ratio);
    for (i = 0; i < 3; i++)
        ratio[i] = wi[2] > 0 && density > 0 ? ratio[i] / density : 0;
}

/* Mean of the look-ups of one term of a lobe: 0 is its middle, 1 and 2 its sides, 3 its border. */
static void vd__split_light(const VdSurface *surface, const VdEnvironment *environment, int side, const VdFrame *lobe,
                            int part, const float flat[3], float light[3]) {
    const int looks = part == 0 ? 1 : part == VD__SPLIT_POINTS ? VD__BORDER_LOOKS : 2;
    float found = 0, one[3], wi[3];
    int look, i;
    light[0] = light[1] = light[2] = 0;
    for (look = 0; look < looks; look++) {
        if (part == VD__SPLIT_POINTS)
            vd__at_lobe(surface, lobe, (float)look / VD__BORDER_LOOKS, 0.85f, wi);
        else
            vd__at_lobe(surface, lobe, part == 2 ? 0.5f : 0, part == 0 ? 0 : look ? 0.472f : 0.102f, wi);
        if (wi[2] <= 0)
            continue;
        vd__look_side(surface, environment, side, wi,
                      (part == VD__SPLIT_POINTS ? 0.1f : 0.2f) / vd__max(vd__ggx(surface->bundle, lobe, wi), 1e-3f), one);
        for (i = 0; i < 3; i++)
            light[i] += one[i];
        found++;
    }
    for (i = 0; i < 3; i++)
        light[i] = found > 0 ? light[i] / found : flat[i];
}

/* Split-sum lighting of one decoder, added to `light`. */
static void vd__split(const VdSurface *surface, const VdEnvironment *environment, int side, float light[3]) {
    static const float shares[VD__SPLIT_POINTS] = {0.2f, 0.4f, 0.4f};
    const uint32_t count = surface->bundle->frame_count;
    const float *weight = surface->weight[side];
    const float across = sqrtf(surface->wo[0] * surface->wo[0] + surface->wo[1] * surface->wo[1]);
    const int is_tilted = across * across > surface->bundle->length_epsilon;
    const float x = is_tilted ? surface->wo[0] / across : 0, y = is_tilted ? surface->wo[1] / across : -1;
    float inputs[VD_CHANNELS + VD_MOST_LIVE + 5 * VD_MOST_FRAMES + 4], factors[2 * VD_MOST_FRAMES + 3];
    float ratio[3 * VD_MOST_FRAMES + 2][3], flat[3], towards[3], away[3], wi[3], total[3] = {0}, sum[3] = {0};
    uint32_t each, first = vd__head_inputs(surface, side, inputs);
    int i, part;
    for (each = 0; each < VD__SPLIT_POINTS * count; each++) {
        const int point = (int)(each % VD__SPLIT_POINTS);
        vd__at_lobe(surface, &surface->lobe[side][each / VD__SPLIT_POINTS], point == 2 ? 0.5f : 0, point ? 0.5f : 0, wi);
        vd__ratio(surface, side, wi, ratio[each]);
    }
    for (part = 0; part < 2; part++, each++) {
        const float half = (part ? -1 : 1) * sqrtf(0.5f);
        wi[0] = -half * y, wi[1] = half * x, wi[2] = sqrtf(0.5f);
        vd__ratio(surface, side, wi, ratio[each]);
    }
    for (each = 0; each < VD__SPLIT_POINTS * count + 2; each++)
        inputs[first + each] = logf(vd__max((ratio[each][0] + ratio[each][1] + ratio[each][2]) / 3, 0.01f));
    vd__head(surface, side, 2, inputs, factors);
    for (each = 0; each < 2 * count + 3; each++)
        factors[each] = expf(vd__clamp(factors[each], -4, 2));
    vd__flat(environment, side, 0, 0, 1, flat);
    vd__flat(environment, side, VD__TILT_SINE * x, VD__TILT_SINE * y, VD__TILT_COSINE, towards);
    vd__flat(environment, side, -VD__TILT_SINE * x, -VD__TILT_SINE * y, VD__TILT_COSINE, away);
    for (each = 0; each < count; each++) {
        float colour[3] = {0}, found[3];
        for (part = 0; part <= VD__SPLIT_POINTS; part++) {
            const float factor = factors[2 * each + (part == VD__SPLIT_POINTS)];
            vd__split_light(surface, environment, side, &surface->lobe[side][each], part, flat, found);
            for (i = 0; i < 3; i++) {
                const int is_border = part == VD__SPLIT_POINTS;
                const float own =
                    is_border ? colour[i] : weight[each] * shares[part] * ratio[VD__SPLIT_POINTS * each + (uint32_t)part][i];
                sum[i] += factor * own * found[i];
                total[i] += factor * own;
                colour[i] += is_border ? 0 : own;
            }
        }
    }
    for (i = 0; i < 3; i++) {
        const float diffuse = 0.5f * (weight[count] + weight[count + 1]) *
                              (ratio[VD__SPLIT_POINTS * count][i] + ratio[VD__SPLIT_POINTS * count + 1][i]);
        const float *g = factors + 2 * count;
        sum[i] += diffuse * (g[0] * flat[i] + g[1] * towards[i] + g[2] * away[i]);
        total[i] += diffuse * (g[0] + g[1] + g[2]);
        /* no more light is reflected than arrives */
        light[i] += sum[i] / vd__max(total[i], 1);
    }
}

void vd_environment_light_split(const VdSurface *surface, const VdEnvironment *environment, float light[3]) {
    const float index = surface->bundle->index;
    int number, i;
    light[0] = light[1] = light[2] = 0;
    vd__split(surface, environment, 0, light);
    if (index == 1)
        vd__split(surface, environment, 1, light);
    if (index == 1 || !(index > 0))
        return;
    /* the factors are fitted in mirrored directions, whose solid angles a solid changes: a few fixed directions instead */
    for (number = 0; number < VD__FIXED_LOOKS; number++) {
        const float turn = (float)number * VD__GOLDEN;
        float mirrored[3], wi[3], response[3], found[3], density;
        vd__draw(surface, 1, ((float)number + 0.5f) / VD__FIXED_LOOKS, turn - floorf(turn), mirrored);
        density = vd__density(surface, 1, mirrored);
        if (!vd__pass(surface->bundle, mirrored, surface->wo, wi) || !(density > 0))
            continue;
        vd__shade(surface, 1, mirrored, response);
        vd__look_side(surface, environment, 1, mirrored, 1 / (VD__FIXED_LOOKS * density), found);
        for (i = 0; i < 3; i++)
            light[i] += response[i] / (density * vd__max(vd__change(surface, wi, mirrored), 1e-3f)) * found[i] / VD__FIXED_LOOKS;
    }
}

/* ---- the check ---- */

/* The rows of one decoder. Those of the second have mirrored directions of light. Rows with the light below a decoder's own
   hemisphere, for which both decoders together answer otherwise, are left out. */
static int vd__rows(const VdBundle *bundle, VdRead read, void *user, int is_below, VdReference *reference, VdError *error) {
    const char *const file = is_below ? bundle->reference_below : bundle->reference;
    const uint32_t most = bundle->index > 0 ? 2 : 1;
    /* the last two if there are live inputs, and a sampler */
    static const char *const names[] = {"uv", "lod", "wi", "wo", "exported", "live", "random"};
    const uint32_t widths[] = {2, 1, 3, 3, 3, bundle->live_count, 2};
    Vd__Json json;
    uint8_t *data = 0;
    size_t bytes = 0;
    int holds;
    if (!read(user, file, VD__MOST_REFERENCE, &data, &bytes))
        return vd__fail(error, file, "the file", "missing, not a plain file, or too large", "copy the whole folder of the bundle");
    holds = vd__parse(&json, file, data, bytes, VD__REFERENCE_VALUES, error);
    if (holds) {
        const Vd__Field root = {&json, 1, ""}, count = vd__get(&root, "count");
        Vd__Field column[7], row[7];
        uint32_t rows = 0, each, i;
        holds = vd__whole(&count, 1, 16384, &rows);
        for (i = 0; i < 7; i++) {
            column[i] = vd__get(&root, names[i]);
            row[i] = vd__first(&column[i]);
        }
        if (holds && is_below && rows != reference->room)
            holds = vd__wrong(&count, "it must be that of the other reference");
        if (holds && !is_below) {
            reference->room = rows;
            reference->queries = (VdQuery *)VD_MALLOC(most * rows * sizeof *reference->queries);
            reference->responses = (float(*)[3])VD_MALLOC(most * rows * sizeof *reference->responses);
            if (bundle->live_count)
                reference->live = (float(*)[4])VD_MALLOC(most * rows * sizeof *reference->live);
            if (!reference->queries || !reference->responses || (bundle->live_count && !reference->live))
                holds = vd__fail(error, file, "count", "too large for the memory", "free memory");
        }
        for (each = 0; holds && each < rows; each++) {
            VdQuery *query = &reference->queries[reference->count];
            float found[7][3], wi[3];
            memset(found, 0, sizeof found);
            for (i = 0; holds && i < 7; i++) {
                if (i == 5 ? !bundle->live_count : i == 6 && !vd__first(&column[i]).at)
                    continue; /* without a sampler there are no random numbers */
                if (!row[i].at)
                    holds = vd__wrong(&column[i], "it has fewer rows than count");
                else if (widths[i] == 1 && i != 5)
                    holds = vd__single(&row[i], 1e30, found[i]);
                else
                    holds = vd__floats(&row[i], widths[i], 1e30, found[i]);
                row[i].at = row[i].at ? vd__of(&row[i])->next : 0;
            }
            if (is_below ? !vd__pass(bundle, found[2], found[3], wi) : bundle->index > 0 && found[2][2] < 0)
                continue;
            if (is_below)
                memcpy(found[2], wi, sizeof wi);
            memset(query, 0, sizeof *query);
            memcpy(query->uv, found[0], sizeof query->uv);
            query->lod = found[1][0];
            memcpy(query->wi, found[2], sizeof query->wi);
            memcpy(query->wo, found[3], sizeof query->wo);
            query->random = found[6][0], query->random2 = found[6][1];
            if (reference->live) {
                memcpy(reference->live[reference->count], found[5], sizeof found[5]);
                reference->live[reference->count][3] = 0;
            }
            memcpy(reference->responses[reference->count], found[4], sizeof found[4]);
            reference->count += holds ? 1 : 0;
        }
    }
    vd__free(&json);
    VD_FREE(data);
    return holds;
}

int vd_open_reference_with(const VdBundle *bundle, VdRead read, void *user, VdReference *reference, VdError *error) {
    int holds;
    memset(reference, 0, sizeof *reference);
    if (error)
        error->text[0] = 0;
    holds = vd__rows(bundle, read, user, 0, reference, error) &&
            (!bundle->reference_below[0] || vd__rows(bundle, read, user, 1, reference, error));
    if (!holds)
        vd_close_reference(reference);
    return holds;
}

void vd_close_reference(VdReference *reference) {
    VD_FREE(reference->queries);
    VD_FREE(reference->live);
    VD_FREE(reference->responses);
    memset(reference, 0, sizeof *reference);
}

int vd_compare(const VdBundle *bundle, const VdReference *reference, const float *found, size_t stride,
               double *largest, VdError *error) {
    uint32_t each, i;
    *largest = 0;
    if (error)
        error->text[0] = 0;
    for (each = 0; each < reference->count; each++)
        for (i = 0; i < 3; i++) {
            const double wanted = reference->responses[each][i], difference = fabs(found[each * stride + i] - wanted);
            const double allowed = wanted >= bundle->floor ? bundle->relative * wanted : bundle->absolute;
            const double share = difference == 0 ? 0 : difference / (allowed > 0 ? allowed : 1e-30);
            if (share != share)
                *largest = 1e300; /* NaN, which every comparison would miss */
            else if (share > *largest)
                *largest = share;
        }
    if (!(*largest <= 1))
        return vd__fail_number(error, bundle->reference, "the largest difference, divided by the allowed one,", *largest,
                               "the decoder or the bundle is wrong");
    return 1;
}

int vd_check_with(const VdBundle *bundle, VdRead read, void *user, double *largest, VdError *error) {
    VdReference reference;
    uint32_t each;
    int holds;
    *largest = 0;
    if (error)
        error->text[0] = 0;
    if (!vd__check_blocks(&bundle->latents, error) || !vd_open_reference_with(bundle, read, user, &reference, error))
        return 0;
    {
        float(*found)[3] = (float(*)[3])VD_MALLOC(reference.count * sizeof *found);
        if (!found)
            holds = vd__fail(error, bundle->reference, "count", "too large for the memory", "free memory");
        else {
            for (each = 0; each < reference.count; each++) {
                const VdQuery *query = &reference.queries[each];
                vd_decode_live(bundle, query->uv, query->lod, query->wi, query->wo,
                               reference.live ? reference.live[each] : bundle->record.live, found[each]);
            }
            holds = vd_compare(bundle, &reference, found[0], 3, largest, error);
        }
        VD_FREE(found);
    }
    vd_close_reference(&reference);
    return holds;
}

/* ---- relief ---- */

/* Steps of a march; the least cosine of a direction; the height at which rays to lights start, in parts of the scale. */
#define VD__RELIEF_STEPS 160
#define VD__RELIEF_COSINE 0.02f
#define VD__RELIEF_BIAS 0.002f

static uint32_t vd__finest(const VdTexture *heights, float lod) {
    const float most = (float)(heights->levels - 1);
    return (uint32_t)(lod > 0 ? lod < most ? lod : most : 0);
}

static const uint8_t *vd__cell(const VdTexture *heights, int x, int y, uint32_t level) {
    const VdLevel *from = &heights->level[level];
    const uint32_t i = (uint32_t)x & (from->width - 1), j = (uint32_t)y & (from->height - 1);
    return from->data + 4 * ((size_t)j * from->width + i);
}

static float vd__stored(const uint8_t *texel) { return (float)(256 * texel[0] + texel[1]) / 65535.0f; }

static float vd__height(const VdTexture *heights, float u, float v, uint32_t level) {
    const float x = (u - floorf(u)) * (float)heights->level[level].width - 0.5f;
    const float y = (v - floorf(v)) * (float)heights->level[level].height - 0.5f;
    const int i = (int)floorf(x), j = (int)floorf(y);
    const float right = x - (float)i, up = y - (float)j;
    const float lower = vd__stored(vd__cell(heights, i, j, level)) * (1 - right) +
                        vd__stored(vd__cell(heights, i + 1, j, level)) * right;
    const float upper = vd__stored(vd__cell(heights, i, j + 1, level)) * (1 - right) +
                        vd__stored(vd__cell(heights, i + 1, j + 1, level)) * right;
    return lower * (1 - up) + upper * up;
}

/* The first part of a segment at which it is below the surface of its cell; 2 without one. x and y are from the cell's
   corner. */
static float vd__meet_cell(const VdTexture *heights, int i, int j, float x, float y, float dx, float dy, float start,
                           float rise, uint32_t level) {
    const float corner = vd__stored(vd__cell(heights, i, j, level));
    float right = 0, up = 0, twist = 0, a, b, root, under;
    if (!level) {
        right = vd__stored(vd__cell(heights, i + 1, j, 0)) - corner;
        up = vd__stored(vd__cell(heights, i, j + 1, 0)) - corner;
        twist = vd__stored(vd__cell(heights, i + 1, j + 1, 0)) - corner - right - up;
    }
    a = corner + right * x + up * y + twist * x * y - start;
    b = right * dx + up * dy + twist * (x * dy + y * dx) - rise;
    root = b * b - 4 * a * twist * dx * dy;
    if (a >= 0)
        return 0;
    under = b + sqrtf(root > 0 ? root : 0);
    return root >= 0 && under > 0 && -2 * a < 2 * under ? -2 * a / under : 2;
}

/* The first t from 0 to 1 at which a ray meets the relief; 2 without one. It skips cells whose largest height is below it.
   At t the ray is at (x, y) + t * (dx, dy) in texels from the centre of the first texel. */
static float vd__meet(const VdTexture *heights, float x, float y, float start, float dx, float dy, float rise,
                      uint32_t finest) {
    const uint32_t top = heights->levels - 1;
    const float most = fabsf(dx) > fabsf(dy) ? fabsf(dx) : fabsf(dy), longest = most > 1e-6f ? most : 1e-6f;
    const float step = ceilf(log2f(longest));
    uint32_t level = vd__finest(heights, step), count;
    float t = 0;
    if (level < finest)
        level = finest;
    for (count = 0; count < VD__RELIEF_STEPS; count++) {
        const float side = (float)(1u << level);
        const float i = floorf((x + t * dx) / side), j = floorf((y + t * dy) / side);
        const float end_x = fabsf(dx) > 1e-6f ? ((i + (dx > 0)) * side - x) / dx : 2;
        const float end_y = fabsf(dy) > 1e-6f ? ((j + (dy > 0)) * side - y) / dy : 2;
        const uint8_t *texel = vd__cell(heights, (int)i, (int)j, level);
        const float low = (float)texel[2] / 255.0f, high = (float)texel[3] / 255.0f;
        const float first = start + t * rise;
        float end = end_x < end_y ? end_x : end_y, last;
        end = end < t ? t : end > 1 ? 1 : end;
        last = start + end * rise;
        if (first <= low)
            return t;
        if ((first < last ? first : last) <= high) {
            /* above the cell's largest height nothing is met */
            float from = t, met;
            if (first > high && rise < 0 && (high - start) / rise > t)
                from = (high - start) / rise;
            if (level > finest) {
                t = from < end ? from : end;
                level--;
                continue;
            }
            met = vd__meet_cell(heights, (int)i, (int)j, x + from * dx - i, y + from * dy - j, (end - from) * dx,
                                (end - from) * dy, start + from * rise, (end - from) * rise, level);
            if (met <= 1)
                return from + met * (end - from);
        }
        if (end >= 1)
            return 2;
        t = end + 1e-3f / longest;
        if (level < top)
            level++;
    }
    return t;
}

void vd_relief(const VdBundle *bundle, const float uv[2], const float wo[3], const float extent[2], float lod,
               float seen[3]) {
    const VdTexture *heights = &bundle->relief;
    const float w = (float)heights->width, h = (float)heights->height;
    const float slant = bundle->relief_scale / (wo[2] > VD__RELIEF_COSINE ? wo[2] : VD__RELIEF_COSINE);
    const float u = wo[0] * slant / extent[0], v = wo[1] * slant / extent[1], up = 1 - bundle->relief_midlevel;
    const float t = vd__meet(heights, (uv[0] - floorf(uv[0]) + u * up) * w - 0.5f, (uv[1] - floorf(uv[1]) + v * up) * h - 0.5f,
                             1, -u * w, -v * h, -1, vd__finest(heights, lod));
    const float above = 1 - (t < 1 ? t : 1) - bundle->relief_midlevel;
    seen[0] = uv[0] + u * above;
    seen[1] = uv[1] + v * above;
    seen[2] = bundle->relief_scale * above;
}

float vd_relief_shadow(const VdBundle *bundle, const float seen[3], const float wi[3], const float extent[2], float lod) {
    const VdTexture *heights = &bundle->relief;
    const float w = (float)heights->width, h = (float)heights->height;
    const float stored = seen[2] / bundle->relief_scale + bundle->relief_midlevel + VD__RELIEF_BIAS, rise = 1 - stored;
    const float slant = bundle->relief_scale * rise / (wi[2] > VD__RELIEF_COSINE ? wi[2] : VD__RELIEF_COSINE);
    if (wi[2] <= 0 || rise <= 0)
        return wi[2] > 0;
    return vd__meet(heights, (seen[0] - floorf(seen[0])) * w - 0.5f, (seen[1] - floorf(seen[1])) * h - 0.5f, stored,
                    wi[0] * slant / extent[0] * w, wi[1] * slant / extent[1] * h, rise, vd__finest(heights, lod)) > 1;
}

void vd_relief_normal(const VdBundle *bundle, const float uv[2], const float extent[2], float lod, float normal[3]) {
    const VdTexture *heights = &bundle->relief;
    const uint32_t level = vd__finest(heights, lod);
    const float across = 0.5f / (float)heights->level[level].width, up = 0.5f / (float)heights->level[level].height;
    const float scale = bundle->relief_scale;
    const float x = (vd__height(heights, uv[0] - across, uv[1], level) - vd__height(heights, uv[0] + across, uv[1], level)) *
                    scale / (2 * across * extent[0]);
    const float y = (vd__height(heights, uv[0], uv[1] - up, level) - vd__height(heights, uv[0], uv[1] + up, level)) * scale /
                    (2 * up * extent[1]);
    const float length = sqrtf(x * x + y * y + 1);
    normal[0] = x / length;
    normal[1] = y / length;
    normal[2] = 1 / length;
}

#ifndef VD_NO_STDIO
/* Only plain files: opening a pipe may wait for ever. */
static FILE *vd__open_file(const char *path) {
#ifdef _WIN32
    /* on Windows, fopen reads a path in a code page, and the compiler refuses fopen */
    wchar_t wide[4096];
    size_t count = 0;
    FILE *stream = 0;
    struct _stat64 facts;
    while (*path && count < 4094) {
        const unsigned char first = (unsigned char)*path++;
        int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
        uint32_t code = more ? first & (0x3fu >> more) : first;
        for (; more && (*path & 0xc0) == 0x80; more--)
            code = code << 6 | ((unsigned char)*path++ & 0x3fu);
        if (code > 0xffff) {
            wide[count++] = (wchar_t)(0xd7c0 + (code >> 10));
            code = 0xdc00 | (code & 0x3ff);
        }
        wide[count++] = (wchar_t)code;
    }
    wide[count] = 0;
    if (*path || _wstat64(wide, &facts) || (facts.st_mode & _S_IFMT) != _S_IFREG || _wfopen_s(&stream, wide, L"rb"))
        return 0;
    return stream;
#else
    struct stat facts;
    return stat(path, &facts) || !S_ISREG(facts.st_mode) ? 0 : fopen(path, "rb");
#endif
}

static int vd__read_file(void *user, const char *file, size_t most, uint8_t **data, size_t *bytes) {
    char path[4096];
    FILE *stream;
    long length;
    *data = 0;
    if (snprintf(path, sizeof path, "%s/%s", (const char *)user, file) >= (int)sizeof path)
        return 0;
    if (!(stream = vd__open_file(path)))
        return 0;
    if (!fseek(stream, 0, SEEK_END) && (length = ftell(stream)) >= 0 && (size_t)length <= most && !fseek(stream, 0, SEEK_SET) &&
        (*data = (uint8_t *)VD_MALLOC((size_t)length + 1))) {
        *bytes = fread(*data, 1, (size_t)length, stream);
        if (*bytes != (size_t)length) {
            VD_FREE(*data);
            *data = 0;
        }
    }
    fclose(stream);
    return *data != 0;
}

int vd_open(VdBundle *bundle, const char *folder, VdError *error) {
    return vd_open_with(bundle, vd__read_file, (void *)(uintptr_t)folder, error);
}

int vd_check(const VdBundle *bundle, const char *folder, double *largest, VdError *error) {
    return vd_check_with(bundle, vd__read_file, (void *)(uintptr_t)folder, largest, error);
}

int vd_open_reference(const VdBundle *bundle, const char *folder, VdReference *reference, VdError *error) {
    return vd_open_reference_with(bundle, vd__read_file, (void *)(uintptr_t)folder, reference, error);
}
#endif

#ifdef __cplusplus
}
#endif
#endif /* VERDIGRIS_IMPLEMENTATION */

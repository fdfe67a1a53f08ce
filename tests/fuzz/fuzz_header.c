/* Opens, checks and decodes damaged copies of a bundle:  fuzz_header FOLDER RUNS [SEED]
   Compile with -fsanitize=address,undefined. Digests are not compared, or no damage would come far.
   With -DVD_LIBFUZZER and -fsanitize=fuzzer the damage is libFuzzer's. VD_FUZZ_BUNDLE names the bundle. */
#define VD_NO_DIGESTS
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"

enum { FILES = 11 };

typedef struct {
    char name[132];
    uint8_t *data;
    size_t bytes;
} File;

typedef struct {
    File file[FILES];
    int count;
} Folder;

static uint64_t state;

static uint32_t draw(uint32_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)((state >> 16) % below);
}

static int read_memory(void *user, const char *name, size_t most, uint8_t **data, size_t *bytes) {
    const Folder *folder = (const Folder *)user;
    int i;
    *data = 0;
    for (i = 0; i < folder->count; i++)
        if (!strcmp(folder->file[i].name, name) && folder->file[i].bytes <= most) {
            /* exactly as long as the file, so that the sanitizer sees the first byte behind it */
            *data = (uint8_t *)malloc(folder->file[i].bytes ? folder->file[i].bytes : 1);
            memcpy(*data, folder->file[i].data, folder->file[i].bytes);
            *bytes = folder->file[i].bytes;
            return 1;
        }
    return 0;
}

static void replace(File *file, size_t at, size_t length, const char *text) {
    const size_t added = strlen(text);
    uint8_t *data = (uint8_t *)malloc(file->bytes - length + added + 1);
    memcpy(data, file->data, at);
    memcpy(data + at, text, added);
    memcpy(data + at + added, file->data + at + length, file->bytes - at - length);
    free(file->data);
    file->data = data;
    file->bytes += added - length;
}

/* Gives the manifest the length of a file that was cut. */
static void correct_length(File *manifest, size_t before, size_t after) {
    char old[40], new[40];
    size_t at, length = (size_t)snprintf(old, sizeof old, "\"bytes\": %lu,", (unsigned long)before);
    snprintf(new, sizeof new, "\"bytes\": %lu,", (unsigned long)after);
    for (at = 0; at + length <= manifest->bytes; at++)
        if (!memcmp(manifest->data + at, old, length)) {
            replace(manifest, at, length, new);
            return;
        }
}

static void damage_text(File *file) {
    static const char *const texts[] = {"0", "-1", "1e999", "4294967296", "18446744073709551616", "0.5", "null", "[]",
                                        "{}", "\"\"", "\"", "]", "}", ",", "1", "257", "8193", "NaN", "1e-320",
                                        "\"../a\"", "\"latents.ktx2\"", "true", "-0", "65536", "\\u0000"};
    size_t at = draw((uint32_t)file->bytes), length = 0;
    /* mostly a whole number or word */
    while (at && draw(8) && file->data[at - 1] != ' ' && file->data[at - 1] != '"')
        at--;
    while (at + length < file->bytes && length < 40 && file->data[at + length] != ',' &&
           file->data[at + length] != '\n' && file->data[at + length] != '"')
        length++;
    replace(file, at, draw(4) ? length : draw((uint32_t)(file->bytes - at < 200 ? file->bytes - at : 200) + 1),
            texts[draw(sizeof texts / sizeof *texts)]);
}

static void damage_bytes(File *file) {
    static const uint8_t bytes[] = {0, 1, 2, 0x7F, 0x80, 0xFF, 0x7C, 0xFC, 16};
    uint32_t times = 1 + draw(6);
    for (; times; times--) {
        /* often in the header and the level index of a texture */
        const size_t at = draw(2) && file->bytes > 320 ? draw(320) : draw((uint32_t)file->bytes);
        file->data[at] = draw(2) ? bytes[draw(sizeof bytes)] : (uint8_t)draw(256);
    }
}

static void damage(Folder *folder) {
    const int chosen = draw(3) ? (int)draw((uint32_t)folder->count) : 0;
    File *file = &folder->file[chosen];
    const int is_text = strstr(file->name, ".json") != 0;
    if (!draw(6)) {
        const size_t before = file->bytes;
        file->bytes = draw((uint32_t)before);
        if (chosen)
            correct_length(&folder->file[0], before, file->bytes);
    } else if (is_text && draw(4)) {
        damage_text(file);
    } else {
        damage_bytes(file);
    }
}

static int load(Folder *folder, const char *path) {
    static const char *const names[] = {"manifest.json", "weights.bin",   "latents.ktx2", "emission.ktx2",
                                        "opacity.ktx2",  "proxies.ktx2", "reference.json",
                                        "transmitted.bin", "transmitted_reference.json", "height.ktx2"};
    size_t i;
    folder->count = 0;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        File *file = &folder->file[folder->count];
        if (vd__read_file((void *)(uintptr_t)path, names[i], 1 << 28, &file->data, &file->bytes)) {
            strcpy(file->name, names[i]);
            folder->count++;
        }
    }
    return folder->count > 3;
}

static void copy_folder(const Folder *whole, Folder *copy) {
    int i;
    *copy = *whole;
    for (i = 0; i < whole->count; i++) {
        copy->file[i].data = (uint8_t *)malloc(whole->file[i].bytes + 1);
        memcpy(copy->file[i].data, whole->file[i].data, whole->file[i].bytes);
    }
}

static void free_folder(Folder *folder) {
    int i;
    for (i = 0; i < folder->count; i++)
        free(folder->file[i].data);
}

/* Returns 0 for an error without a place. */
static int try_folder(Folder *folder, int checks, unsigned long *opened, unsigned long *agreed, VdError *error) {
    VdBundle bundle;
    double largest;
    int i, holds;
    memset(error, 1, sizeof *error);
    holds = vd_open_with(&bundle, read_memory, folder, error);
    if (holds) {
        /* a place far away, directions at the horizon, values that are no numbers */
        static const float uvs[4][2] = {{0.5f, 0.25f}, {-1e6f, 0.999999f}, {3.75f, -0.0f}, {1e-30f, NAN}};
        const float up[3] = {0, 0.6f, 0.8f}, low[3] = {1, 0, 1e-20f};
        static const float extent[2] = {1, 1}, randoms[2][2] = {{0, 0}, {0.99f, 0.9999f}};
        float response[3];
        ++*opened;
        for (i = 0; i < 4; i++) {
            VdSurface surface;
            vd_decode(&bundle, uvs[i], (float)i * 3 - 2, i & 1 ? low : up, up, response);
            vd_prepare(&bundle, uvs[i], 0, i & 1 ? low : up, 0, 0.5f, &surface);
            vd_draw(&surface, randoms[i & 1], response);
            vd_pdf(&surface, response);
            if (bundle.relief.format)
                vd_relief(&bundle, uvs[i], i & 1 ? low : up, extent, 0, response);
        }
        holds = checks ? vd_check_with(&bundle, read_memory, folder, &largest, error) : 1;
        *agreed += (unsigned long)holds;
        if (holds && !vd_unpack_latents(&bundle, error))
            holds = 0;
        vd_close(&bundle);
    }
    return holds || (memchr(error->text, 0, sizeof error->text) && strstr(error->text, ": "));
}

#ifdef VD_LIBFUZZER
/* The first byte chooses a file of the bundle, and whether the bundle is checked. The others are its contents; a
   manifest is given the length of another file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static Folder whole;
    Folder copy;
    VdError error;
    File *file;
    size_t before;
    unsigned long opened = 0, agreed = 0;
    if (!whole.count && (!getenv("VD_FUZZ_BUNDLE") || !load(&whole, getenv("VD_FUZZ_BUNDLE"))))
        abort();
    if (!bytes)
        return 0;
    copy_folder(&whole, &copy);
    file = &copy.file[(data[0] & 0x7F) % copy.count];
    before = file->bytes;
    free(file->data);
    file->bytes = bytes - 1;
    file->data = (uint8_t *)malloc(bytes);
    memcpy(file->data, data + 1, bytes - 1);
    if (file != copy.file)
        correct_length(&copy.file[0], before, file->bytes);
    if (!try_folder(&copy, data[0] & 0x80, &opened, &agreed, &error))
        abort();
    free_folder(&copy);
    return 0;
}
#else
int main(int count, char **words) {
    Folder whole, copy;
    unsigned long run, runs, opened = 0, agreed = 0;
    if (count < 3 || !load(&whole, words[1]))
        return 2;
    runs = strtoul(words[2], 0, 10);
    state = 88172645463325252ull + (count > 3 ? strtoull(words[3], 0, 10) : 0) * 2654435761ull;
    for (run = 0; run < runs; run++) {
        VdError error;
        copy_folder(&whole, &copy);
        damage(&copy);
        if (!try_folder(&copy, draw(8) == 0, &opened, &agreed, &error)) {
            fprintf(stderr, "run %lu: an error without a place: %s\n", run, error.text);
            return 1;
        }
        free_folder(&copy);
    }
    printf("%lu damaged bundles, %lu opened, %lu agreed\n", runs, opened, agreed);
    free_folder(&whole);
    return 0;
}
#endif

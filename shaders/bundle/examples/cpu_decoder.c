// SPDX-License-Identifier: Apache-2.0

/* Checks a bundle in plain C and draws it as a sphere:  cpu_decoder NAME.vdg [picture.ppm]

       cc -O2 -I NAME.vdg/runtime cpu_decoder.c -o cpu_decoder -lm */
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"

enum { SIZE = 128 };

static unsigned char display(float light) {
    const float curve = light <= 0.0031308f ? 12.92f * light : 1.055f * powf(light, 1 / 2.4f) - 0.055f;
    return (unsigned char)(curve < 1 ? 255 * curve + 0.5f : 255);
}

static int draw(const VdBundle *bundle, const char *path) {
    static const float light[3] = {-0.38f, 0.57f, 0.73f};
    FILE *file = fopen(path, "wb");
    int column, row, i;
    if (!file)
        return 0;
    fprintf(file, "P6 %d %d 255\n", SIZE, SIZE);
    for (row = 0; row < SIZE; row++)
        for (column = 0; column < SIZE; column++) {
            const float x = (column + 0.5f) / SIZE * 2 - 1, y = 1 - (row + 0.5f) / SIZE * 2;
            unsigned char pixel[3] = {30, 30, 30};
            if (x * x + y * y < 0.98f) {
                /* a view along z: normal n; tangent t along growing u, which goes around the sphere's axis y */
                const float n[3] = {x, y, sqrtf(1 - x * x - y * y)}, around = sqrtf(n[0] * n[0] + n[2] * n[2]);
                const float t[3] = {n[2] / around, 0, -n[0] / around};
                const float b[3] = {n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]};
                const float uv[2] = {atan2f(n[0], n[2]) / 3.14159265f + 0.5f, asinf(n[1]) / 3.14159265f + 0.5f};
                const float wo[3] = {t[2], b[2], n[2]};
                const float wi[3] = {vd__dot(t, light), vd__dot(b, light), vd__dot(n, light)};
                float response[3];
                vd_decode(bundle, uv, 0, wi, wo, response);
                for (i = 0; i < 3; i++)
                    pixel[i] = display(3 * response[i]);
            }
            fwrite(pixel, 1, 3, file);
        }
    return !fclose(file);
}

int main(int count, char **words) {
    VdBundle bundle;
    VdError error;
    double largest;
    if (count < 2 || count > 3) {
        fprintf(stderr, "cpu_decoder NAME.vdg [picture.ppm]\n");
        return 2;
    }
    if (!vd_open(&bundle, words[1], &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%s: %u x %u texels, %u layers\n", bundle.name, bundle.latents.width, bundle.latents.height,
           bundle.layer_count);
    if (!vd_check(&bundle, words[1], &largest, &error)) {
        fprintf(stderr, "%s\n", error.text);
        vd_close(&bundle);
        return 1;
    }
    printf("largest difference: %.4f of what is allowed\n", largest);
    if (count == 3 && !draw(&bundle, words[2])) {
        fprintf(stderr, "%s: cannot be written\n", words[2]);
        vd_close(&bundle);
        return 1;
    }
    vd_close(&bundle);
    return 0;
}

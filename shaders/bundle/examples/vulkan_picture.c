// SPDX-License-Identifier: Apache-2.0

/* Draws a bundle as a sphere with Vulkan, without a window:  vulkan_picture NAME.vdg picture.spv picture.ppm

       glslangValidator -V -INAME.vdg/runtime picture.comp -o picture.spv
       cc -O2 -I NAME.vdg/runtime vulkan_picture.c -o vulkan_picture -lvulkan -lm

   It loads the record, the constants and the latents as an engine does, and runs a compute shader. With the address of a
   live link (verdigris bake --link) in place of the bundle, it draws again whenever the material changes, until it is
   finished: buffers and texels are replaced, and the pipeline stays. */
#define _POSIX_C_SOURCE 200112L
#include <vulkan/vulkan.h>

#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
#define VERDIGRIS_LINK_IMPLEMENTATION
#include "verdigris_link.h"

#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        const VkResult result_ = (call);                                                                  \
        if (result_ != VK_SUCCESS) {                                                                      \
            fprintf(stderr, "%s: VkResult %d\n", #call, (int)result_);                                    \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)

enum { SIZE = 256, RECORDS = 2, LATENTS = 4, SAMPLER = 6, FLOATS = 7, PIXELS = 0 };

static VkPhysicalDevice gpu;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static VkDeviceMemory allocate(VkMemoryRequirements needs, VkMemoryPropertyFlags flags) {
    VkPhysicalDeviceMemoryProperties memory;
    VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, 0, needs.size, 0};
    VkDeviceMemory found;
    vkGetPhysicalDeviceMemoryProperties(gpu, &memory);
    while (info.memoryTypeIndex < memory.memoryTypeCount &&
           !(needs.memoryTypeBits >> info.memoryTypeIndex & 1 &&
             (memory.memoryTypes[info.memoryTypeIndex].propertyFlags & flags) == flags))
        info.memoryTypeIndex++;
    if (info.memoryTypeIndex == memory.memoryTypeCount)
        fail("there is no memory of the kind that is needed");
    CHECK(vkAllocateMemory(device, &info, 0, &found));
    return found;
}

typedef struct {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize bytes;
} Buffer;

static void write_buffer(Buffer buffer, const void *data, size_t bytes) {
    void *place;
    CHECK(vkMapMemory(device, buffer.memory, 0, bytes, 0, &place));
    memcpy(place, data, bytes);
    vkUnmapMemory(device, buffer.memory);
}

/* In memory that the processor sees; an engine copies weights and records to the device's own. */
static Buffer make_buffer(const void *data, size_t bytes, VkBufferUsageFlags usage) {
    const VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, 0, 0, bytes, usage, 0, 0, 0};
    VkMemoryRequirements needs;
    Buffer made;
    made.bytes = bytes;
    CHECK(vkCreateBuffer(device, &info, 0, &made.buffer));
    vkGetBufferMemoryRequirements(device, made.buffer, &needs);
    made.memory = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    CHECK(vkBindBufferMemory(device, made.buffer, made.memory, 0));
    if (data)
        write_buffer(made, data, bytes);
    return made;
}

static void free_buffer(Buffer buffer) {
    vkDestroyBuffer(device, buffer.buffer, 0);
    vkFreeMemory(device, buffer.memory, 0);
}

static VkCommandBuffer begin(void) {
    const VkCommandBufferAllocateInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, 0, pool,
                                              VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    const VkCommandBufferBeginInfo start = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, 0, 0, 0};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(device, &info, &commands));
    CHECK(vkBeginCommandBuffer(commands, &start));
    return commands;
}

static void submit(VkCommandBuffer commands) {
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO, 0, 0, 0, 0, 0, 0, 0, 0};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    CHECK(vkEndCommandBuffer(commands));
    CHECK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(queue));
    vkFreeCommandBuffers(device, pool, 1, &commands);
}

static void move_image(VkCommandBuffer commands, VkImage image, const VdTexture *texture, VkImageLayout from,
                       VkImageLayout to) {
    const VkImageMemoryBarrier barrier = {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, 0,
                                          VK_ACCESS_MEMORY_WRITE_BIT,
                                          VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT, from, to,
                                          VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, image,
                                          {VK_IMAGE_ASPECT_COLOR_BIT, 0, texture->levels, 0, texture->layers}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, 0,
                         0, 0, 1, &barrier);
}

typedef struct {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VdTexture shown; /* its size and format */
} Texture;

/* The latent texture: an array. */
static Texture make_texture(const VdTexture *texture) {
    const VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, 0, 0, VK_IMAGE_TYPE_2D,
                                    (VkFormat)texture->format, {texture->width, texture->height, 1},
                                    texture->levels, texture->layers, VK_SAMPLE_COUNT_1_BIT, VK_IMAGE_TILING_OPTIMAL,
                                    VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                    VK_SHARING_MODE_EXCLUSIVE, 0, 0, VK_IMAGE_LAYOUT_UNDEFINED};
    VkImageViewCreateInfo look = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, 0, 0, VK_NULL_HANDLE,
                                  VK_IMAGE_VIEW_TYPE_2D_ARRAY, (VkFormat)texture->format,
                                  {VK_COMPONENT_SWIZZLE_IDENTITY, VK_COMPONENT_SWIZZLE_IDENTITY,
                                   VK_COMPONENT_SWIZZLE_IDENTITY, VK_COMPONENT_SWIZZLE_IDENTITY},
                                  {VK_IMAGE_ASPECT_COLOR_BIT, 0, texture->levels, 0, texture->layers}};
    VkMemoryRequirements needs;
    Texture made;
    CHECK(vkCreateImage(device, &info, 0, &made.image));
    vkGetImageMemoryRequirements(device, made.image, &needs);
    made.memory = allocate(needs, 0);
    CHECK(vkBindImageMemory(device, made.image, made.memory, 0));
    look.image = made.image;
    CHECK(vkCreateImageView(device, &look, 0, &made.view));
    made.shown = *texture;
    return made;
}

static void free_texture(Texture texture) {
    vkDestroyImageView(device, texture.view, 0);
    vkDestroyImage(device, texture.image, 0);
    vkFreeMemory(device, texture.memory, 0);
}

static int is_as_large(const VdTexture *first, const VdTexture *second) {
    return first->format == second->format && first->width == second->width && first->height == second->height &&
           first->layers == second->layers;
}

/* Level by level. A level is one copy: its layers lie one after the other. */
static void fill_texture(VkImage image, const VdTexture *texture) {
    VkCommandBuffer commands = begin();
    Buffer stages[VD_MOST_LEVELS];
    uint32_t level;
    move_image(commands, image, texture, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    for (level = 0; level < texture->levels; level++) {
        const VdLevel *each = &texture->level[level];
        const VkBufferImageCopy copy = {0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, texture->layers},
                                        {0, 0, 0}, {each->width, each->height, 1}};
        stages[level] = make_buffer(each->data, each->bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        vkCmdCopyBufferToImage(commands, stages[level].buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    }
    move_image(commands, image, texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    submit(commands);
    for (level = 0; level < texture->levels; level++)
        free_buffer(stages[level]);
}

/* Linear between texels and levels, repeating, without anisotropy or bias. */
static VkSampler make_sampler(void) {
    VkSamplerCreateInfo info = {VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, 0, 0, VK_FILTER_LINEAR, VK_FILTER_LINEAR,
                                VK_SAMPLER_MIPMAP_MODE_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT,
                                VK_SAMPLER_ADDRESS_MODE_REPEAT, VK_SAMPLER_ADDRESS_MODE_REPEAT, 0, 0, 0, 0,
                                VK_COMPARE_OP_NEVER, 0, VK_LOD_CLAMP_NONE, VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK, 0};
    VkSampler sampler;
    CHECK(vkCreateSampler(device, &info, 0, &sampler));
    return sampler;
}

static void open_device(void) {
    const VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO, 0, "vulkan_picture", 1, 0, 0,
                                           VK_API_VERSION_1_1};
    const VkInstanceCreateInfo start = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, 0, 0, &application, 0, 0, 0, 0};
    const float priority = 1;
    VkDeviceQueueCreateInfo family = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, 0, 0, 0, 1, &priority};
    VkPhysicalDeviceFeatures features = {0}, known;
    VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, 0, 0, 1, &family, 0, 0, 0, 0, &features};
    VkCommandPoolCreateInfo commands = {VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, 0, 0, 0};
    VkQueueFamilyProperties families[16];
    uint32_t count = 1, family_count = 16;
    VkInstance instance;
    CHECK(vkCreateInstance(&start, 0, &instance));
    if (vkEnumeratePhysicalDevices(instance, &count, &gpu) < 0 || !count)
        fail("there is no Vulkan device");
    vkGetPhysicalDeviceQueueFamilyProperties(gpu, &family_count, families);
    while (family.queueFamilyIndex < family_count && !(families[family.queueFamilyIndex].queueFlags & VK_QUEUE_COMPUTE_BIT))
        family.queueFamilyIndex++;
    vkGetPhysicalDeviceFeatures(gpu, &known);
    features.textureCompressionBC = known.textureCompressionBC;
    CHECK(vkCreateDevice(gpu, &info, 0, &device));
    vkGetDeviceQueue(device, family.queueFamilyIndex, 0, &queue);
    commands.queueFamilyIndex = family.queueFamilyIndex;
    CHECK(vkCreateCommandPool(device, &commands, 0, &pool));
}

static int can_filter(uint32_t format) {
    VkFormatProperties found;
    vkGetPhysicalDeviceFormatProperties(gpu, (VkFormat)format, &found);
    return (found.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT) != 0;
}

static uint32_t most_uniform_bytes(void) {
    VkPhysicalDeviceProperties found;
    vkGetPhysicalDeviceProperties(gpu, &found);
    return found.limits.maxUniformBufferRange;
}

static VkShaderModule read_shader(const char *path) {
    static uint32_t code[1 << 18];
    VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, 0, 0, 0, code};
    VkShaderModule module;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("the shader cannot be read");
    info.codeSize = fread(code, 1, sizeof code, file);
    fclose(file);
    CHECK(vkCreateShaderModule(device, &info, 0, &module));
    return module;
}

typedef struct {
    Buffer records, floats, pixels;
    Texture latents;
    VkSampler sampler;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
} Scene;

/* Pipeline and buffers, for all materials with the bundle's architecture. */
static void make_scene(Scene *scene, const VdBundle *bundle, const char *shader) {
    static const struct {
        uint32_t binding;
        VkDescriptorType type;
    } slots[] = {{PIXELS, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}, {RECORDS, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                 {LATENTS, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE}, {SAMPLER, VK_DESCRIPTOR_TYPE_SAMPLER},
                 {FLOATS, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER}};
    enum { SLOTS = sizeof slots / sizeof *slots };
    VkDescriptorSetLayoutBinding bindings[SLOTS];
    VkDescriptorPoolSize sizes[SLOTS];
    VkWriteDescriptorSet writes[SLOTS];
    VkDescriptorBufferInfo buffers[SLOTS];
    VkDescriptorImageInfo image;
    VkDescriptorSetLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, 0, 0, SLOTS, bindings};
    VkPipelineLayoutCreateInfo pipeline_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, 0, 0, 1, 0, 0, 0};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, 0, 0, 1, SLOTS, sizes};
    VkDescriptorSetAllocateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, 0, 0, 1, 0};
    VkComputePipelineCreateInfo compute = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, 0, 0, {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, 0, 0, VK_SHADER_STAGE_COMPUTE_BIT, read_shader(shader), "main", 0}, 0, 0, 0};
    VkDescriptorSetLayout layout;
    int i;
    scene->pixels = make_buffer(0, 16 * SIZE * SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    scene->records = make_buffer(0, 2 * sizeof bundle->record, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    scene->floats = make_buffer(0, bundle->constants_bytes, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    scene->latents = make_texture(&bundle->latents);
    scene->sampler = make_sampler();
    image.sampler = scene->sampler, image.imageView = scene->latents.view;
    image.imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    for (i = 0; i < SLOTS; i++) {
        const Buffer *own = slots[i].binding == PIXELS ? &scene->pixels : slots[i].binding == RECORDS ? &scene->records : &scene->floats;
        const VkDescriptorBufferInfo buffer = {own->buffer, 0, own->bytes};
        const VkDescriptorSetLayoutBinding binding = {slots[i].binding, slots[i].type, 1, VK_SHADER_STAGE_COMPUTE_BIT, 0};
        const VkDescriptorPoolSize size = {slots[i].type, 1};
        const VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, 0, 0, slots[i].binding, 0, 1,
                                            slots[i].type, &image, &buffers[i], 0};
        buffers[i] = buffer, bindings[i] = binding, sizes[i] = size, writes[i] = write;
    }
    CHECK(vkCreateDescriptorSetLayout(device, &layout_info, 0, &layout));
    pipeline_info.pSetLayouts = set_info.pSetLayouts = &layout;
    CHECK(vkCreatePipelineLayout(device, &pipeline_info, 0, &scene->layout));
    compute.layout = scene->layout;
    CHECK(vkCreateDescriptorPool(device, &pool_info, 0, &set_info.descriptorPool));
    CHECK(vkAllocateDescriptorSets(device, &set_info, &scene->set));
    for (i = 0; i < SLOTS; i++)
        writes[i].dstSet = scene->set;
    vkUpdateDescriptorSets(device, SLOTS, writes, 0, 0);
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &compute, 0, &scene->pipeline));
}

/* Replaces numbers and texels. A texture of another size or format takes the place of the old one. */
static void show(Scene *scene, const VdBundle *bundle) {
    const VdRecord records[2] = {bundle->record, bundle->record_below}; /* the second of a surface that transmits */
    if (bundle->constants_bytes != scene->floats.bytes)
        fail("the material has another architecture: start again, with the shader of its bundle");
    write_buffer(scene->records, records, sizeof records);
    write_buffer(scene->floats, bundle->constants, bundle->constants_bytes);
    if (!is_as_large(&scene->latents.shown, &bundle->latents)) {
        VkDescriptorImageInfo image = {VK_NULL_HANDLE, VK_NULL_HANDLE, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
        VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, 0, scene->set, LATENTS, 0, 1,
                                      VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, &image, 0, 0};
        free_texture(scene->latents);
        scene->latents = make_texture(&bundle->latents);
        image.imageView = scene->latents.view;
        vkUpdateDescriptorSets(device, 1, &write, 0, 0);
    }
    fill_texture(scene->latents.image, &bundle->latents);
}

static void shade(const Scene *scene) {
    const VkMemoryBarrier written = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, 0, VK_ACCESS_SHADER_WRITE_BIT,
                                     VK_ACCESS_HOST_READ_BIT};
    VkCommandBuffer commands = begin();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, scene->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, scene->layout, 0, 1, &scene->set, 0, 0);
    vkCmdDispatch(commands, SIZE / 8, SIZE / 8, 1);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0,
                         0, 0, 0);
    submit(commands);
}

static void write_picture(Buffer pixels, const char *path) {
    FILE *file = fopen(path, "wb");
    const float *light;
    void *place;
    int i;
    if (!file)
        fail("the picture cannot be written");
    CHECK(vkMapMemory(device, pixels.memory, 0, pixels.bytes, 0, &place));
    fprintf(file, "P6 %d %d 255\n", SIZE, SIZE);
    for (light = (const float *)place, i = 0; i < 4 * SIZE * SIZE; i++)
        if (i % 4 < 3) {
            const float curve = light[i] <= 0.0031308f ? 12.92f * light[i] : 1.055f * powf(light[i], 1 / 2.4f) - 0.055f;
            fputc(curve < 1 ? (int)(255 * curve + 0.5f) : 255, file);
        }
    vkUnmapMemory(device, pixels.memory);
    if (fclose(file))
        fail("the picture cannot be written");
}

/* Draws a material. The first one makes the scene. */
static void draw(Scene *scene, VdBundle *bundle, char **words) {
    VdError error;
    if (!can_filter(bundle->latents.format) && !vd_unpack_latents(bundle, &error))
        fail(error.text);
    if (bundle->constants_bytes > most_uniform_bytes())
        fail("the decoder is larger than maxUniformBufferRange of the device: use portable_sampled.glsl");
    if (!scene->pipeline)
        make_scene(scene, bundle, words[2]);
    show(scene, bundle);
    shade(scene);
    write_picture(scene->pixels, words[3]);
}

/* Draws each state of a material until it is finished. */
static void follow(Scene *scene, char **words) {
    static VdLink link;
    VdBundle bundle;
    VdError error;
    if (!vd_link_open(&link, words[1], &error))
        fail(error.text);
    do {
        if (vd_link_poll(&link, 1000, &error)) {
            if (!vd_open_with(&bundle, vd_link_read, &link, &error))
                fail(error.text);
            draw(scene, &bundle, words);
            vd_close(&bundle);
            printf("%u: step %u of %u\n", link.number, link.step, link.steps);
        }
        if (link.is_ended)
            fail(error.text);
    } while (!link.is_final);
    vd_link_close(&link);
}

int main(int count, char **words) {
    static Scene scene;
    VdBundle bundle;
    VdError error;
    if (count != 4)
        fail("vulkan_picture NAME.vdg picture.spv picture.ppm");
    open_device();
    if (!strncmp(words[1], "ws://", 5)) {
        follow(&scene, words);
        return 0;
    }
    if (!vd_open(&bundle, words[1], &error))
        fail(error.text);
    draw(&scene, &bundle, words);
    vd_close(&bundle);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0

/* Draws a bundle as a sphere with Vulkan, without a window:  vulkan_picture NAME.vdg picture.spv picture.ppm

       glslangValidator -V -INAME.vdg/runtime picture.comp -o picture.spv
       cc -O2 -I NAME.vdg/runtime vulkan_picture.c -o vulkan_picture -lvulkan -lm

   It loads the record, the constants and the latents as an engine does, and runs a compute shader. */
#include <vulkan/vulkan.h>

#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"

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

/* In memory that the processor sees; an engine copies weights and records to the device's own. */
static Buffer make_buffer(const void *data, size_t bytes, VkBufferUsageFlags usage) {
    const VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, 0, 0, bytes, usage, 0, 0, 0};
    VkMemoryRequirements needs;
    Buffer made;
    void *place;
    made.bytes = bytes;
    CHECK(vkCreateBuffer(device, &info, 0, &made.buffer));
    vkGetBufferMemoryRequirements(device, made.buffer, &needs);
    made.memory = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    CHECK(vkBindBufferMemory(device, made.buffer, made.memory, 0));
    if (data) {
        CHECK(vkMapMemory(device, made.memory, 0, bytes, 0, &place));
        memcpy(place, data, bytes);
        vkUnmapMemory(device, made.memory);
    }
    return made;
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

/* The latent texture: an array. A level is one copy: its layers lie one after the other. */
static VkImageView make_texture(const VdTexture *texture) {
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
    VkCommandBuffer commands = begin();
    VkMemoryRequirements needs;
    VkImage image;
    VkImageView view;
    uint32_t level;
    CHECK(vkCreateImage(device, &info, 0, &image));
    vkGetImageMemoryRequirements(device, image, &needs);
    CHECK(vkBindImageMemory(device, image, allocate(needs, 0), 0));
    move_image(commands, image, texture, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    for (level = 0; level < texture->levels; level++) {
        const VdLevel *each = &texture->level[level];
        const Buffer stage = make_buffer(each->data, each->bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        const VkBufferImageCopy copy = {0, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, texture->layers},
                                        {0, 0, 0}, {each->width, each->height, 1}};
        vkCmdCopyBufferToImage(commands, stage.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
    }
    move_image(commands, image, texture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    submit(commands);
    look.image = image;
    CHECK(vkCreateImageView(device, &look, 0, &view));
    return view;
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

static void shade(const VdBundle *bundle, const char *shader, Buffer pixels) {
    static const struct {
        uint32_t binding;
        VkDescriptorType type;
    } slots[] = {{PIXELS, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER}, {RECORDS, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
                 {LATENTS, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE}, {SAMPLER, VK_DESCRIPTOR_TYPE_SAMPLER},
                 {FLOATS, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER}};
    enum { SLOTS = sizeof slots / sizeof *slots };
    const Buffer records = make_buffer(&bundle->record, sizeof bundle->record, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    const Buffer floats = make_buffer(bundle->constants, bundle->constants_bytes, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
    const VkDescriptorBufferInfo buffers[SLOTS] = {{pixels.buffer, 0, pixels.bytes}, {records.buffer, 0, records.bytes},
                                                   {0}, {0}, {floats.buffer, 0, floats.bytes}};
    const VkDescriptorImageInfo image = {make_sampler(), make_texture(&bundle->latents),
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkMemoryBarrier written = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, 0, VK_ACCESS_SHADER_WRITE_BIT,
                                     VK_ACCESS_HOST_READ_BIT};
    VkDescriptorSetLayoutBinding bindings[SLOTS];
    VkDescriptorPoolSize sizes[SLOTS];
    VkWriteDescriptorSet writes[SLOTS];
    VkDescriptorSetLayoutCreateInfo layout_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, 0, 0, SLOTS, bindings};
    VkPipelineLayoutCreateInfo pipeline_info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, 0, 0, 1, 0, 0, 0};
    VkDescriptorPoolCreateInfo pool_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, 0, 0, 1, SLOTS, sizes};
    VkDescriptorSetAllocateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, 0, 0, 1, 0};
    VkComputePipelineCreateInfo compute = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, 0, 0, {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, 0, 0, VK_SHADER_STAGE_COMPUTE_BIT, read_shader(shader), "main", 0}, 0, 0, 0};
    VkDescriptorSetLayout layout;
    VkDescriptorSet set;
    VkPipeline pipeline;
    VkCommandBuffer commands;
    int i;
    for (i = 0; i < SLOTS; i++) {
        const VkDescriptorSetLayoutBinding binding = {slots[i].binding, slots[i].type, 1, VK_SHADER_STAGE_COMPUTE_BIT, 0};
        const VkDescriptorPoolSize size = {slots[i].type, 1};
        const VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, 0, 0, slots[i].binding, 0, 1,
                                            slots[i].type, &image, &buffers[i], 0};
        bindings[i] = binding, sizes[i] = size, writes[i] = write;
    }
    CHECK(vkCreateDescriptorSetLayout(device, &layout_info, 0, &layout));
    pipeline_info.pSetLayouts = set_info.pSetLayouts = &layout;
    CHECK(vkCreatePipelineLayout(device, &pipeline_info, 0, &compute.layout));
    CHECK(vkCreateDescriptorPool(device, &pool_info, 0, &set_info.descriptorPool));
    CHECK(vkAllocateDescriptorSets(device, &set_info, &set));
    for (i = 0; i < SLOTS; i++)
        writes[i].dstSet = set;
    vkUpdateDescriptorSets(device, SLOTS, writes, 0, 0);
    CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &compute, 0, &pipeline));
    commands = begin();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute.layout, 0, 1, &set, 0, 0);
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
    if (fclose(file))
        fail("the picture cannot be written");
}

int main(int count, char **words) {
    VdBundle bundle;
    VdError error;
    Buffer pixels;
    if (count != 4)
        fail("vulkan_picture NAME.vdg picture.spv picture.ppm");
    if (!vd_open(&bundle, words[1], &error))
        fail(error.text);
    open_device();
    if (!can_filter(bundle.latents.format) && !vd_unpack_latents(&bundle, &error))
        fail(error.text);
    if (bundle.constants_bytes > most_uniform_bytes())
        fail("the decoder is larger than maxUniformBufferRange of the device: use portable_sampled.glsl");
    pixels = make_buffer(0, 16 * SIZE * SIZE, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    shade(&bundle, words[2], pixels);
    write_picture(pixels, words[3]);
    vd_close(&bundle);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0

/* verdigris_link.h: shows a material of Verdigris while it trains. For POSIX and Windows, without dependencies, beside
   verdigris.h:

       #define VERDIGRIS_IMPLEMENTATION
       #include "verdigris.h"
       #define VERDIGRIS_LINK_IMPLEMENTATION
       #include "verdigris_link.h"

       VdLink link;
       if (!vd_link_open(&link, "ws://127.0.0.1:8748/?token=...", &error))    // printed by verdigris bake --link
           fail(error.text);
       each frame:
           if (vd_link_poll(&link, 0, &error) && vd_open_with(&bundle, vd_link_read, &link, &error)) {
               replace(&bundle);                                              // buffers and texels; the shader stays
               vd_close(&bundle);
           }
           if (link.is_ended) ...                                             // the last material stays; error.text says why
       vd_link_close(&link);

   docs/LINK.md of Verdigris describes the protocol. On Windows, link with ws2_32. */
#ifndef VERDIGRIS_LINK_H
#define VERDIGRIS_LINK_H

#include "verdigris.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VD_LINK_FILES 16

typedef struct {
    char name[132];
    uint8_t *data;
    size_t bytes;
} VdLinkFile;

typedef struct {
    char material[128];
    uint32_t number, step, steps;     /* of the newest snapshot; 0 before the first one, and step if nothing trains */
    int is_final;                     /* these are the files of a finished bundle */
    int has_shown;                    /* a snapshot was returned, and the next one was not asked for */
    int is_ended;                     /* the server is gone, or has refused; an error says why */
    VdLinkFile file[VD_LINK_FILES];   /* the newest of each name */
    intptr_t socket;
    uint8_t *in, *message;            /* bytes that were received; fragments of a message */
    size_t in_bytes, in_room, message_bytes, message_room;
} VdLink;

/* All functions return 1, or 0 with an error. */
int vd_link_open(VdLink *link, const char *address, VdError *error);
/* Returns 1 if there is a new snapshot. Waits for one so many milliseconds; 0 does not wait. Returns 0 with an empty
   error if there is none yet. */
int vd_link_poll(VdLink *link, int milliseconds, VdError *error);
/* For vd_open_with: reads a file of the newest snapshot. `link` is a VdLink. */
int vd_link_read(void *link, const char *file, size_t most, uint8_t **data, size_t *bytes);
void vd_link_close(VdLink *link);

#ifdef __cplusplus
}
#endif
#endif

#ifdef VERDIGRIS_LINK_IMPLEMENTATION
#undef VERDIGRIS_LINK_IMPLEMENTATION

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#define vd__close_socket(socket) closesocket((SOCKET)(socket))
#else
#include <errno.h>
#include <netdb.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>
#define vd__close_socket(socket) close((int)(socket))
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { VD__LINK_VERSION = 1, VD__LINK_HEAD = 1 << 20, VD__LINK_VALUES = 4096, VD__LINK_ANSWER = 16384 };
#define VD__LINK_MESSAGE ((size_t)512 << 20)

static int vd__link_fail(VdLink *link, VdError *error, const char *what, const char *remedy) {
    link->is_ended = 1;
    return vd__fail(error, "the link", what, "", remedy);
}

/* Appends bytes; 0 if there is no memory. */
static int vd__append(uint8_t **data, size_t *bytes, size_t *room, const void *more, size_t count) {
    if (*bytes + count > *room) {
        size_t wanted = *room ? 2 * *room : 1 << 16;
        uint8_t *larger;
        while (wanted < *bytes + count)
            wanted *= 2;
        if (!(larger = (uint8_t *)VD_MALLOC(wanted)))
            return 0;
        if (*bytes)
            memcpy(larger, *data, *bytes);
        VD_FREE(*data);
        *data = larger;
        *room = wanted;
    }
    memcpy(*data + *bytes, more, count);
    *bytes += count;
    return 1;
}

static int vd__link_send(VdLink *link, const void *data, size_t bytes) {
    const char *at = (const char *)data;
    while (bytes) {
        const long sent = (long)send(link->socket, at, (int)bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return 0;
        at += sent;
        bytes -= (size_t)sent;
    }
    return 1;
}

/* Waits for bytes, at most so long: 1 if some came, 0 if none, -1 if the connection is lost. */
static int vd__link_receive(VdLink *link, int milliseconds) {
    static const size_t kMost = 1 << 16;
    uint8_t *place;
    struct timeval wait;
    fd_set readable;
    long found;
    wait.tv_sec = milliseconds / 1000;
    wait.tv_usec = milliseconds % 1000 * 1000;
    FD_ZERO(&readable);
#ifdef _WIN32
    FD_SET((SOCKET)link->socket, &readable);
#else
    if (link->socket >= FD_SETSIZE)
        return -1;
    FD_SET((int)link->socket, &readable);
#endif
    found = select((int)link->socket + 1, &readable, 0, 0, &wait);
    if (found <= 0)
        return found < 0 ? -1 : 0;
    if (link->in_bytes + kMost > link->in_room) {
        static const uint8_t kNothing[1 << 16] = {0};
        const size_t bytes = link->in_bytes;
        if (!vd__append(&link->in, &link->in_bytes, &link->in_room, kNothing, kMost))
            return -1;
        link->in_bytes = bytes;
    }
    place = link->in + link->in_bytes;
    found = (long)recv(link->socket, (char *)place, (int)kMost, 0);
    if (found <= 0)
        return -1;
    link->in_bytes += (size_t)found;
    return 1;
}

static void vd__link_drop(VdLink *link, size_t count) {
    link->in_bytes -= count;
    memmove(link->in, link->in + count, link->in_bytes);
}

/* Host and port of ws://HOST:PORT/PATH, and the path. */
static int vd__link_parse(const char *address, char host[256], char port[8], const char **path) {
    const char *from, *to, *end;
    size_t length;
    if (strncmp(address, "ws://", 5))
        return 0;
    from = address + 5;
    end = from + strcspn(from, "/?");
    to = end;
    while (to > from && *to != ':' && *to != ']')
        to--;
    length = *to == ':' ? (size_t)(to - from) : (size_t)(end - from);
    snprintf(port, 8, "%.*s", *to == ':' ? (int)(end - to - 1) : 2, *to == ':' ? to + 1 : "80");
    if (*from == '[' && length > 2)
        from++, length -= 2;
    if (!length || length > 255)
        return 0;
    memcpy(host, from, length);
    host[length] = 0;
    *path = end;
    return strlen(end) < 1024;
}

int vd_link_open(VdLink *link, const char *address, VdError *error) {
    static const char *kRemedy = "copy the whole address that verdigris prints";
    struct addrinfo wanted, *found = 0, *each;
    char host[256], port[8], request[2048];
    const char *path;
    size_t place = 0;
#ifdef _WIN32
    WSADATA started;
    WSAStartup(MAKEWORD(2, 2), &started);
#endif
    memset(link, 0, sizeof *link);
    link->socket = -1;
    if (error)
        error->text[0] = 0;
    if (!vd__link_parse(address, host, port, &path))
        return vd__link_fail(link, error, "its address is none", kRemedy);
    memset(&wanted, 0, sizeof wanted);
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &wanted, &found))
        return vd__link_fail(link, error, "its host is not known", kRemedy);
    for (each = found; each && link->socket < 0; each = each->ai_next) {
        link->socket = (intptr_t)socket(each->ai_family, each->ai_socktype, each->ai_protocol);
        if (link->socket >= 0 && connect(link->socket, each->ai_addr, (int)each->ai_addrlen)) {
            vd__close_socket(link->socket);
            link->socket = -1;
        }
    }
    freeaddrinfo(found);
    if (link->socket < 0)
        return vd__link_fail(link, error, "nobody listens there", "start the bake or verdigris link");
    snprintf(request, sizeof request,
             "GET %s%s%cversion=%d HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dmVyZGlncmlzLWxpbmsuaA==\r\n\r\n",
             *path == '/' ? "" : "/", path, strchr(path, '?') ? '&' : '?', VD__LINK_VERSION, host, port);
    if (!vd__link_send(link, request, strlen(request)))
        return vd__link_fail(link, error, "lost", kRemedy);
    for (;;) {
        for (; place + 4 <= link->in_bytes; place++)
            if (!memcmp(link->in + place, "\r\n\r\n", 4))
                break;
        if (place + 4 <= link->in_bytes)
            break;
        if (link->in_bytes > VD__LINK_ANSWER || vd__link_receive(link, 10000) <= 0) {
            vd_link_close(link);
            return vd__link_fail(link, error, "no answer", kRemedy);
        }
    }
    if (place < 12 || memcmp(link->in + 8, " 101", 4)) {
        vd_link_close(link);
        return vd__link_fail(link, error, "the answer of something else", kRemedy);
    }
    vd__link_drop(link, place + 4);
    return 1;
}

static VdLinkFile *vd__link_file(VdLink *link, const char *name) {
    int index;
    for (index = 0; index < VD_LINK_FILES; index++)
        if (!link->file[index].data || !strcmp(link->file[index].name, name))
            return &link->file[index];
    return 0;
}

/* Keeps the files of a snapshot. */
static int vd__link_take_files(VdLink *link, const Vd__Field *head, size_t first) {
    const Vd__Field files = vd__get(head, "files");
    Vd__Field each = vd__first(&files);
    for (; each.at; each.at = vd__of(&each)->next) {
        const Vd__Field offset = vd__get(&each, "offset"), bytes = vd__get(&each, "bytes");
        VdLinkFile *file;
        uint8_t *data;
        char name[132];
        double at, size;
        if (!vd__file_name(&each, name) || !vd__real(&offset, 0, (double)VD__LINK_MESSAGE, &at) ||
            !vd__real(&bytes, 0, (double)VD__LINK_MESSAGE, &size))
            return 0;
        if ((double)first + at + size > (double)link->message_bytes)
            return vd__wrong(&bytes, "the message ends before");
        if (!(file = vd__link_file(link, name)) || !(data = (uint8_t *)VD_MALLOC((size_t)size + 1)))
            return vd__wrong(&each, "there are too many files, or no memory");
        memcpy(data, link->message + first + (size_t)at, (size_t)size);
        VD_FREE(file->data);
        memcpy(file->name, name, sizeof name);
        file->data = data;
        file->bytes = (size_t)size;
    }
    return 1;
}

/* Reads a whole message: 1 if it is a snapshot, 0 without an error for others. */
static int vd__link_take(VdLink *link, VdError *error) {
    const size_t length = link->message_bytes < 8 ? 0 : vd__u32(link->message + 4);
    int is_snapshot = 0, holds = 0;
    Vd__Json json;
    if (!length || memcmp(link->message, "VDLK", 4) || length > VD__LINK_HEAD || 8 + length > link->message_bytes)
        return vd__link_fail(link, error, "the message of something else", "use the same Verdigris on both sides");
    if (vd__parse(&json, "the link", link->message + 8, length, VD__LINK_VALUES, error)) {
        const Vd__Field head = {&json, 1, ""};
        const Vd__Field version = vd__get(&head, "link"), kind = vd__get(&head, "kind"), number = vd__get(&head, "number");
        const Vd__Field step = vd__get(&head, "step"), steps = vd__get(&head, "steps"), final = vd__get(&head, "final");
        const Vd__Field material = vd__get(&head, "material");
        is_snapshot = vd__is(&kind, "snapshot");
        holds = 1;
        if (!version.at || vd__of(&version)->number != VD__LINK_VERSION)
            holds = vd__wrong(&version, "this reads version 1: use the verdigris_link.h of that version");
        else if (is_snapshot) {
            holds = vd__whole(&number, 0, 4e9, &link->number) &&
                    vd__copy_text(&material, link->material, sizeof link->material) &&
                    vd__link_take_files(link, &head, (8 + length + 15) / 16 * 16);
            link->step = step.at ? (uint32_t)vd__of(&step)->number : 0;
            link->steps = steps.at ? (uint32_t)vd__of(&steps)->number : 0;
            link->is_final = final.at && vd__of(&final)->number == 1;
        }
    }
    vd__free(&json);
    link->message_bytes = 0;
    if (!holds)
        link->is_ended = 1;
    return holds && is_snapshot;
}

/* Takes the first frame of the received bytes: 1 for a snapshot, 0 for another one or an error, -1 if it is not whole. */
static int vd__link_frame(VdLink *link, VdError *error) {
    const uint8_t *in = link->in;
    const int opcode = link->in_bytes ? in[0] & 15 : 0, is_last = link->in_bytes ? in[0] >> 7 : 0;
    size_t head = 2, bytes;
    int found = 0, index;
    if (link->in_bytes < 2)
        return -1;
    bytes = in[1] & 127;
    if (in[1] >> 7 || in[0] & 0x70)
        return vd__link_fail(link, error, "a frame that no server sends", "start both again");
    if (bytes > 125) {
        const int wide = bytes == 126 ? 2 : 8;
        head += (size_t)wide;
        if (link->in_bytes < head)
            return -1;
        for (bytes = 0, index = 0; index < wide; index++)
            bytes = bytes << 8 | in[2 + index];
    }
    if (bytes > VD__LINK_MESSAGE || link->message_bytes + bytes > VD__LINK_MESSAGE)
        return vd__link_fail(link, error, "a message above 512 MiB", "bake with a smaller texture");
    if (link->in_bytes < head + bytes)
        return -1;
    if (opcode == 0 || opcode == 2) {
        if (!vd__append(&link->message, &link->message_bytes, &link->message_room, in + head, bytes))
            return vd__link_fail(link, error, "the memory is used up", "free some");
        if (is_last)
            found = vd__link_take(link, error);
    } else if (opcode == 8) {
        char text[124] = "the server has ended";
        if (bytes > 2 && bytes <= 125) {
            memcpy(text, in + head + 2, bytes - 2);
            text[bytes - 2] = 0;
        }
        vd__link_fail(link, error, text, "connect again, or to another server");
    } else if (opcode == 9 && bytes <= 125) {
        /* a mask of zeros leaves the bytes as they are */
        uint8_t pong[131] = {0x8a, 0, 0, 0, 0, 0};
        pong[1] = (uint8_t)(0x80 | bytes);
        memcpy(pong + 6, in + head, bytes);
        vd__link_send(link, pong, 6 + bytes);
    }
    vd__link_drop(link, head + bytes);
    return found;
}

int vd_link_poll(VdLink *link, int milliseconds, VdError *error) {
    /* the text "next", under a mask of zeros */
    static const uint8_t kNext[] = {0x81, 0x84, 0, 0, 0, 0, 'n', 'e', 'x', 't'};
    if (error)
        error->text[0] = 0;
    if (link->has_shown && !link->is_ended)
        vd__link_send(link, kNext, sizeof kNext);
    link->has_shown = 0;
    while (!link->is_ended) {
        const int found = vd__link_frame(link, error);
        int received;
        if (found == 1) {
            link->has_shown = 1;
            return 1;
        }
        if (found == 0)
            continue;
        received = vd__link_receive(link, milliseconds);
        if (received < 0)
            return vd__link_fail(link, error, "lost", "start the bake or verdigris link again");
        if (!received)
            return 0;
    }
    return 0;
}

int vd_link_read(void *user, const char *name, size_t most, uint8_t **data, size_t *bytes) {
    const VdLinkFile *file = vd__link_file((VdLink *)user, name);
    if (!file || !file->data || file->bytes > most || !(*data = (uint8_t *)VD_MALLOC(file->bytes + 1)))
        return 0;
    memcpy(*data, file->data, file->bytes);
    *bytes = file->bytes;
    return 1;
}

void vd_link_close(VdLink *link) {
    int index;
    if (link->socket >= 0)
        vd__close_socket(link->socket);
    for (index = 0; index < VD_LINK_FILES; index++)
        VD_FREE(link->file[index].data);
    VD_FREE(link->in);
    VD_FREE(link->message);
    memset(link, 0, sizeof *link);
    link->socket = -1;
    link->is_ended = 1;
}

#ifdef __cplusplus
}
#endif
#endif

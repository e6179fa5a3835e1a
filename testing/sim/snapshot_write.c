// SPDX-License-Identifier: GPL-2.0-or-later

#include "snapshot_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const char *dir, const char *name, const void *data, size_t len)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		return -1;
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0) {
			close(fd);
			return -1;
		}
		data = (const uint8_t *)data + n;
		len -= (size_t)n;
	}
	return close(fd);
}

/* Writes and empties the text. */
static int write_text(const char *dir, const char *name, struct sim_buffer *text)
{
	int result = write_file(dir, name, text->data, text->len);

	sim_buffer_clear(text);
	return result;
}

int snapshot_make_dir(const char *dir)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *slash = path + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			return -1;
		*slash = '/';
	}
	return mkdir(path, 0777) && errno != EEXIST ? -1 : 0;
}

static const char *format_name(enum cs_framing framing)
{
	switch (framing) {
	case CS_FRAMING_RAW:
		return "source_data";
	case CS_FRAMING_DSTREAM:
		return "dstream_coresight";
	default:
		return "coresight";
	}
}

static int write_snapshot_ini(const char *dir, unsigned int count, struct sim_buffer *text)
{
	unsigned int device = 0;

	sim_buffer_text(text, "[snapshot]\nversion=1.0\ndescription=simulated\n\n[device_list]\n");
	for (unsigned int i = 0; i < count; i++) {
		sim_buffer_printf(text, "device%u=cpu_%u.ini\n", device++, i);
		sim_buffer_printf(text, "device%u=source_%u.ini\n", device++, i);
	}
	sim_buffer_text(text, "\n[trace]\nmetadata=trace.ini\n");
	return write_text(dir, "snapshot.ini", text);
}

static int write_trace_ini(const char *dir, unsigned int count, enum cs_framing framing, struct sim_buffer *text)
{
	sim_buffer_text(text, "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=ETB_0\nfile=trace.bin\n");
	sim_buffer_printf(text, "format=%s\n\n[source_buffers]\n", format_name(framing));
	for (unsigned int i = 0; i < count; i++)
		sim_buffer_printf(text, "TRACE_%u=ETB_0\n", i);
	sim_buffer_text(text, "\n[core_trace_sources]\n");
	for (unsigned int i = 0; i < count; i++)
		sim_buffer_printf(text, "cpu_%u=TRACE_%u\n", i, i);
	return write_text(dir, "trace.ini", text);
}

static int write_source_ini(const char *dir, unsigned int index, const struct ete_config *config,
		struct sim_buffer *text)
{
	struct ete_register registers[ETE_REGISTER_MAX];
	unsigned int n = ete_config_registers(config, registers);
	char name[32];

	sim_buffer_printf(text, "[device]\nname=TRACE_%u\nclass=trace_source\ntype=%s\n\n[regs]\n", index,
			config->etmv4 ? "ETM4" : "ETE");
	for (unsigned int i = 0; i < n; i++)
		sim_buffer_printf(text, "%s=0x%08x\n", registers[i].name, registers[i].value);
	snprintf(name, sizeof(name), "source_%u.ini", index);
	return write_text(dir, name, text);
}

static int write_core(const char *dir, unsigned int index, const struct snapshot_stream *stream,
		struct sim_buffer *text)
{
	char name[32];

	sim_buffer_printf(text, "[device]\nname=cpu_%u\nclass=core\ntype=%s\n\n[regs]\nPC=0x0\n", index,
			stream->core_type);
	for (unsigned int i = 0; i < stream->image_count; i++) {
		const struct snapshot_image *image = &stream->images[i];
		snprintf(name, sizeof(name), "code_%u_%u.bin", index, i);
		sim_buffer_printf(text, "\n[dump%u]\nfile=%s\naddress=0x%llx\nlength=0x%zx\n", i, name,
				(unsigned long long)image->address, image->len);
		if (write_file(dir, name, image->data, image->len))
			return -1;
	}
	snprintf(name, sizeof(name), "cpu_%u.ini", index);
	return write_text(dir, name, text);
}

static int write_truth(const char *dir, const struct snapshot_stream *stream, bool alone)
{
	char name[32] = "truth.log";

	if (!stream->truth)
		return 0;
	if (!alone)
		snprintf(name, sizeof(name), "truth.%x.log", stream->config->trace_id);
	return write_file(dir, name, stream->truth->data, stream->truth->len);
}

int snapshot_write(const char *dir, const struct snapshot_stream *streams, unsigned int count, enum cs_framing framing,
		const struct sim_buffer *trace)
{
	struct sim_buffer text = { 0 };
	int result = snapshot_make_dir(dir);

	if (!result)
		result = write_snapshot_ini(dir, count, &text);
	if (!result)
		result = write_trace_ini(dir, count, framing, &text);
	for (unsigned int i = 0; i < count && !result; i++) {
		result = write_source_ini(dir, i, streams[i].config, &text);
		if (!result)
			result = write_core(dir, i, &streams[i], &text);
		if (!result)
			result = write_truth(dir, &streams[i], count == 1);
	}
	if (!result)
		result = write_file(dir, "trace.bin", trace->data, trace->len);
	sim_buffer_free(&text);
	return result;
}

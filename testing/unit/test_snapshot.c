// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Snapshots: what the reader takes, what it refuses and in which words, the given captures, and that what the writer
 * makes is read back the same, by us and by OpenCSD's trc_pkt_lister.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "snapshot.h"

static char dir[256];

static const char *in_dir(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put_bytes(const char *name, const void *bytes, size_t len)
{
	FILE *f = fopen(in_dir(name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_file(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void assert_file_has(const char *name, const char *text)
{
	char bytes[4096];
	FILE *f = fopen(in_dir(name), "rb");

	assert_non_null(f);
	bytes[fread(bytes, 1, sizeof(bytes) - 1, f)] = 0;
	fclose(f);
	assert_non_null(strstr(bytes, text));
}

static void remove_tree(const char *path)
{
	char command[600];
	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
}

static const char snapshot_ini[] =
	"; comment\n[snapshot]\nversion=1.0 # more\n[device_list]\na=cpu.ini\nb=ete.ini\n[trace]\nmetadata=trace.ini\n";
static const char trace_ini[] =
	"[trace_buffers]\nbuffers=buffer0,\n[buffer0]\nname=ETB\nfile=trace.bin\nformat=source_data\n"
	"[source_buffers]\nETE_0=ETB\n[core_trace_sources]\ncpu_0=ETE_0\n";
static const char cpu_ini[] =
	"[device]\r\nname = cpu_0\r\nclass=core\r\ntype=Cortex-A53\r\n[regs]\r\nPC(size:64)=0x1\r\n"
	"[dump1]\r\nfile=code.bin\r\naddress=0x1000\r\n";
static const char ete_ini[] =
	"[device]\nname=ETE_0\nclass=trace_source\ntype=ETE\n[regs]\nTRCCONFIGR(0x004)=0x1\nTRCTRACEIDR=16\n"
	"trcidr0=0x28000ea1\nTRCIDR2=0x1088\nTRCDEVARCH=0x47715a13\nUNKNOWN=nonsense\n";

/* A small snapshot that is right; tests then spoil one of its files. */
static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_snapshot.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	put_file("snapshot.ini", snapshot_ini);
	put_file("trace.ini", trace_ini);
	put_file("cpu.ini", cpu_ini);
	put_file("ete.ini", ete_ini);
	put_file("trace.bin", "12345");
	put_file("code.bin", "abcdefghi");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static struct itrace_snapshot *read_it(void)
{
	char why[512];
	struct itrace_snapshot *snapshot = itrace_snapshot_read(dir, 7, why, sizeof(why));
	if (!snapshot)
		fail_msg("%s", why);
	return snapshot;
}

/* Reading fails with one line that holds each of the texts. */
static void refused(const char *first, const char *second)
{
	char why[512];
	struct itrace_snapshot *snapshot = itrace_snapshot_read(dir, 0, why, sizeof(why));
	assert_null(snapshot);
	if (!strstr(why, first) || !strstr(why, second) || strchr(why, '\n'))
		fail_msg("'%s' has no '%s' or no '%s'", why, first, second);
	/* the line is cut, not overrun */
	char small[9];
	memset(small, 'x', sizeof(small));
	assert_null(itrace_snapshot_read(dir, 0, small, 8));
	assert_int_equal(small[8], 'x');
	assert_true(memchr(small, 0, 8));
}

/* Reading succeeds with exactly one note, which holds the text. */
static void noted(const char *text)
{
	struct itrace_snapshot *snapshot = read_it();
	assert_int_equal(snapshot->note_count, 1);
	if (!strstr(snapshot->notes[0], text))
		fail_msg("'%s' has no '%s'", snapshot->notes[0], text);
	itrace_snapshot_free(snapshot);
}

static void test_good(void **state)
{
	(void)state;
	struct itrace_snapshot *snapshot = read_it();

	assert_int_equal(snapshot->note_count, 0);
	assert_int_equal(snapshot->buffer_count, 1);
	const struct itrace_snapshot_buffer *buffer = &snapshot->buffers[0];
	assert_string_equal(buffer->section, "buffer0");
	assert_string_equal(buffer->name, "ETB");
	assert_string_equal(buffer->path, in_dir("trace.bin"));
	assert_int_equal(buffer->framing, ITRACE_FRAMING_RAW);
	assert_int_equal(buffer->len, 5);
	assert_null(buffer->why);
	assert_int_equal(buffer->source_count, 1);
	assert_int_equal(buffer->sources[0], 0);

	assert_int_equal(snapshot->source_count, 1);
	const struct itrace_snapshot_source *source = &snapshot->sources[0];
	assert_string_equal(source->name, "ETE_0");
	assert_null(source->why);
	assert_int_equal(source->protocol, ITRACE_PROTOCOL_ETE);
	assert_int_equal(source->regs.trcconfigr, 1);
	assert_int_equal(source->regs.trctraceidr, 16);
	assert_int_equal(source->regs.trcidr0, 0x28000ea1);
	assert_int_equal(source->regs.trcidr2, 0x1088);
	assert_int_equal(source->regs.trcdevarch, 0x47715a13);
	assert_string_equal(source->defaulted, "TRCIDR1 TRCIDR8");
	assert_int_equal(source->core, 0);
	assert_int_equal(source->profile, ITRACE_PROFILE_A);
	assert_int_equal(source->arch, ITRACE_ARCH_V8);

	assert_int_equal(snapshot->core_count, 1);
	const struct itrace_snapshot_core *core = &snapshot->cores[0];
	assert_string_equal(core->name, "cpu_0");
	assert_true(core->type_known);
	assert_int_equal(core->segment_count, 1);
	assert_int_equal(core->segments[0].addr, 0x1000);
	/* the odd last byte is left out */
	assert_int_equal(core->segments[0].len, 8);
	assert_memory_equal(core->segments[0].data, "abcdefgh", 8);
	assert_int_equal(core->segments[0].space, ITRACE_SPACE_ANY);
	assert_int_equal(core->segments[0].source, 7);

	size_t count;
	struct itrace_segment *segments = itrace_snapshot_segments(snapshot, 0, 0, &count);
	assert_int_equal(count, 1);
	assert_int_equal(segments[0].addr, 0x1000);
	free(segments);
	itrace_snapshot_free(snapshot);
	itrace_snapshot_free(NULL);
}

static void test_whole_is_bad(void **state)
{
	(void)state;
	char why[512];

	put_file("snapshot.ini", "[snapshot]\nversion=2.0\n");
	refused("snapshot.ini:2:", "version=2.0");
	put_file("snapshot.ini", "[snapshot]\nversion=1\nversion=1\n");
	refused("snapshot.ini:3:", "version is given twice");
	put_file("snapshot.ini", "[snapshot\n");
	refused("snapshot.ini:1:", "has no ]");
	put_file("snapshot.ini", "version=1\n");
	refused("snapshot.ini:1:", "before the first [section]");
	put_file("snapshot.ini", "[snapshot]\nnonsense\n");
	refused("snapshot.ini:2:", "'nonsense'");
	put_file("snapshot.ini", "");
	refused("snapshot.ini", "no [trace]");
	put_file("snapshot.ini", "[device_list]\nx=absent.ini\n");
	refused("snapshot.ini:2:", "absent.ini: No such file");
	put_bytes("snapshot.ini", "[snap\0shot]", 11);
	refused("snapshot.ini", "not a text file");
	assert_int_equal(remove(in_dir("snapshot.ini")), 0);
	refused("snapshot.ini", "No such file");
	assert_int_equal(mkdir(in_dir("snapshot.ini"), 0777), 0);
	refused("snapshot.ini", "is a directory");

	assert_null(itrace_snapshot_read(in_dir("cpu.ini"), 0, why, sizeof(why)));
	assert_non_null(strstr(why, "not a directory"));
	assert_null(itrace_snapshot_read(in_dir("absent"), 0, why, sizeof(why)));
	assert_non_null(strstr(why, "absent: No such file"));
}

static void test_device_is_bad(void **state)
{
	(void)state;

	put_file("cpu.ini", "[device]\nname=a\nname=b\n");
	refused("cpu.ini:3:", "name is given twice in [device]");
	put_file("cpu.ini", "[regs]\nR0=1\n[regs]\nR0(x)=2\n");
	refused("cpu.ini:4:", "R0 is given twice in [regs]");
	put_file("cpu.ini", "[dump1]\nfile=a\nfile=b\n");
	refused("cpu.ini:3:", "file is given twice");
	/* twice in two dumps, or in a section that means nothing, is no mistake */
	put_file("cpu.ini", "[device]\nname=cpu_0\nclass=core\ntype=Cortex-M55\n[junk]\na=1\na=2\n"
		"[dump1]\nfile=code.bin\naddress=0\n[dump1]\nfile=code.bin\naddress=0x100\n");
	struct itrace_snapshot *snapshot = read_it();
	assert_int_equal(snapshot->note_count, 0);
	assert_int_equal(snapshot->cores[0].segment_count, 2);
	/* one block holds the bytes of both */
	assert_ptr_equal(snapshot->cores[0].segments[0].data, snapshot->cores[0].segments[1].data);
	assert_int_equal(snapshot->sources[0].profile, ITRACE_PROFILE_M);
	itrace_snapshot_free(snapshot);

	put_file("cpu.ini", "[device]\nname=cpu_0\nclass=core\ntype=Cortex-Z1\n");
	noted("core type 'Cortex-Z1' is not known");
}

static void test_source_is_bad(void **state)
{
	(void)state;
	static const struct {
		const char *ini;
		const char *first;
		const char *second;
	} cases[] = {
		{ "type=ETE\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=1\nTRCIDR0=1\n", "ete.ini", "TRCIDR2 is missing" },
		{ "type=ETE\n[regs]\nTRCCONFIGR=abc\n", "ete.ini:6:", "TRCCONFIGR: 'abc' is not a number" },
		{ "type=ETE\n[regs]\nTRCCONFIGR=\n", "ete.ini:6:", "TRCCONFIGR: '' is not a number" },
		{ "type=ETE\n[regs]\nTRCCONFIGR=-1\n", "ete.ini:6:", "'-1' is not a number" },
		{ "type=ETE\n[regs]\nTRCCONFIGR=0x100000000\n", "ete.ini:6:", "0x100000000 does not fit" },
		{ "type=ETE\n[regs]\nTRCCONFIGR=0x1ffffffffffffffff\n", "ete.ini:6:", "is not a number" },
		{ "type=PTM1.1\n", "ete.ini", "PTM1.1 cannot be decoded" },
		{ "type=ETM5\n", "ete.ini", "'ETM5' is no trace source" },
		{ "type=ETM40\n", "ete.ini", "'ETM40' is no trace source" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		snprintf(text, sizeof(text), "[device]\nname=ETE_0\nclass=trace_source\n%s", cases[i].ini);
		put_file("ete.ini", text);
		struct itrace_snapshot *snapshot = read_it();
		const char *why = snapshot->sources[0].why;
		if (!why || !strstr(why, cases[i].first) || !strstr(why, cases[i].second))
			fail_msg("'%s' has no '%s' or no '%s'", why ? why : "", cases[i].first, cases[i].second);
		itrace_snapshot_free(snapshot);
	}

	put_file("ete.ini", "[device]\nname=ETE_0\nclass=mtb\n[regs]\nPOSITION=0\n");
	struct itrace_snapshot *snapshot = read_it();
	assert_null(snapshot->sources[0].why);
	assert_int_equal(snapshot->sources[0].protocol, ITRACE_PROTOCOL_MTB);
	assert_int_equal(snapshot->sources[0].mtb.given, ITRACE_MTB_REG_POSITION);
	itrace_snapshot_free(snapshot);
	put_file("ete.ini", "[device]\nname=MTB_0\nclass=mtb\n[regs]\nposition=0x14\nMASTER=0x80000005\nFLOW=0x43\n"
		"BASE=0x20000000\nAW=15\nPC_ARM=0x100\nPC_HALT=0x200\nVTOR=0x4000\nSECURE=1\n");
	snapshot = read_it();
	const struct itrace_mtb_registers *mtb = &snapshot->sources[0].mtb;
	assert_int_equal(mtb->given, 0xff);
	assert_int_equal(mtb->position, 0x14);
	assert_int_equal(mtb->master, 0x80000005);
	assert_int_equal(mtb->flow, 0x43);
	assert_int_equal(mtb->base, 0x20000000);
	assert_int_equal(mtb->aw, 15);
	assert_int_equal(mtb->pc_arm, 0x100);
	assert_int_equal(mtb->pc_halt, 0x200);
	assert_int_equal(mtb->vtor, 0x4000);
	itrace_snapshot_free(snapshot);
	put_file("ete.ini", "[device]\nname=MTB_0\nclass=mtb\n[regs]\nPOSITION=0x100000000\n");
	snapshot = read_it();
	assert_non_null(strstr(snapshot->sources[0].why, "ete.ini:5: POSITION: 0x100000000 does not fit 32 bits"));
	itrace_snapshot_free(snapshot);
	put_file("ete.ini", "[device]\nname=MTB_0\nclass=mtb\n[regs]\nAW=all\n");
	snapshot = read_it();
	assert_non_null(strstr(snapshot->sources[0].why, "ete.ini:5: AW: 'all' is not a number"));
	itrace_snapshot_free(snapshot);

	put_file("ete.ini", "[device]\nname=MTB_0\nclass=mtb\n[seams]\nseam0=0x180,0x2c4\nseam1=384\n"
		"seam2 = 0x10000000000 , 0xFFFFFFFE\n");
	snapshot = read_it();
	assert_null(snapshot->sources[0].why);
	assert_int_equal(snapshot->sources[0].seam_count, 3);
	const struct itrace_seam *seams = snapshot->sources[0].seams;
	assert_true(seams[0].off == 0x180 && seams[0].has_pc && seams[0].pc == 0x2c4);
	assert_true(seams[1].off == 0x180 && !seams[1].has_pc);
	assert_true(seams[2].off == 0x10000000000 && seams[2].has_pc && seams[2].pc == 0xfffffffe);
	itrace_snapshot_free(snapshot);
	static const char *const bad_seams[] = { "0x100", "x", "", "0x200,", "0x200,0x100000000", "0x200 0x100" };
	for (size_t i = 0; i < sizeof(bad_seams) / sizeof(bad_seams[0]); i++) {
		char text[256];
		snprintf(text, sizeof(text), "[device]\nname=MTB_0\nclass=mtb\n[seams]\nseam0=0x180\nseam1=%s\nseam2=1\n",
			bad_seams[i]);
		put_file("ete.ini", text);
		snapshot = read_it();
		assert_non_null(snapshot->sources[0].why);
		assert_non_null(strstr(snapshot->sources[0].why, "ete.ini:6: a seam is OFFSET or OFFSET,PC"));
		itrace_snapshot_free(snapshot);
	}

	put_file("ete.ini", "[device]\nname=ETE_0\nclass=trace_source\ntype=ETM4.4\n[regs]\nTRCCONFIGR=1\nTRCTRACEIDR=1\n"
		"TRCIDR0=1\nTRCIDR1=0x4100f440\nTRCIDR2=1\nTRCIDR8=2\n");
	snapshot = read_it();
	assert_null(snapshot->sources[0].why);
	assert_int_equal(snapshot->sources[0].protocol, ITRACE_PROTOCOL_ETMV4);
	assert_int_equal(snapshot->sources[0].regs.trcidr1, 0x4100f440);
	assert_string_equal(snapshot->sources[0].defaulted, "TRCIDR9 TRCIDR10 TRCIDR11 TRCIDR12 TRCIDR13");
	itrace_snapshot_free(snapshot);
}

static void test_buffers(void **state)
{
	(void)state;
	/* file order of the sections counts, not that of the list; a buffer without its file is still a buffer */
	put_file("trace.ini", "[buffer9]\nname=x\n[trace_buffers]\nbuffers=buffer1, buffer2 ,buffer3,buffer4\n"
		"[buffer2]\nname=B\nfile=trace.bin\nformat=dstream_coresight\n"
		"[buffer1]\nname=A\nfile=trace.bin\nformat=coresight\n[buffer5]\nname=Z\n"
		"[buffer3]\nname=C\nformat=what\nfile=absent.bin\n[buffer4]\nname=D\nformat=x\n"
		"[source_buffers]\nETE_0=A\nETE_0=B\n[core_trace_sources]\ncpu_0=ETE_0\n");
	struct itrace_snapshot *snapshot = read_it();
	assert_int_equal(snapshot->note_count, 4);
	assert_non_null(strstr(snapshot->notes[0], "trace.ini:1: [buffer9]"));
	assert_non_null(strstr(snapshot->notes[1], "trace.ini:13: [buffer5]"));
	assert_non_null(strstr(snapshot->notes[2], "[buffer3] format=what is not known"));
	assert_non_null(strstr(snapshot->notes[3], "[buffer4] format=x is not known"));
	assert_int_equal(snapshot->buffer_count, 4);
	assert_string_equal(snapshot->buffers[0].name, "B");
	assert_int_equal(snapshot->buffers[0].framing, ITRACE_FRAMING_DSTREAM);
	assert_int_equal(snapshot->buffers[0].source_count, 1);
	assert_int_equal(snapshot->buffers[1].framing, ITRACE_FRAMING_CORESIGHT);
	assert_int_equal(snapshot->buffers[1].source_count, 1);
	assert_int_equal(snapshot->buffers[2].source_count, 0);
	assert_int_equal(snapshot->buffers[2].framing, ITRACE_FRAMING_CORESIGHT);
	assert_non_null(strstr(snapshot->buffers[2].why, "trace.ini:18: [buffer3]"));
	assert_non_null(strstr(snapshot->buffers[2].why, "absent.bin: No such file"));
	assert_non_null(strstr(snapshot->buffers[3].why, "trace.ini:19: [buffer4] has no file="));
	itrace_snapshot_free(snapshot);

	put_file("trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=A\nfile=.\nformat=coresight\n"
		"[source_buffers]\nX=A\nETE_0=Y\n[core_trace_sources]\nX=ETE_0\ncpu_0=Y\n");
	snapshot = read_it();
	assert_int_equal(snapshot->note_count, 4);
	assert_non_null(strstr(snapshot->buffers[0].why, "is a directory"));
	assert_int_equal(snapshot->sources[0].core, SIZE_MAX);
	size_t count;
	assert_null(itrace_snapshot_segments(snapshot, 0, 0, &count));
	assert_int_equal(count, 0);
	itrace_snapshot_free(snapshot);

	put_file("trace.ini", "[trace_buffers]\nbuffers=\n");
	refused("trace.ini", "none of the buffers");
	put_file("trace.ini", "[source_buffers]\n");
	refused("trace.ini", "no [trace_buffers]");
	put_file("trace.ini", "[trace_buffers]\nbuffers=a\n[a]\nname=x\nname=y\n");
	refused("trace.ini:5:", "name is given twice in [a]");
}

static void test_dumps(void **state)
{
	(void)state;
	static const struct {
		const char *keys;
		const char *note;	/* NULL: taken */
		uint64_t addr, len;
		char first;
		uint8_t space;
	} cases[] = {
		{ "file=code.bin\naddress=0x2000\nlength=4\noffset=2\nspace=EL1N\n", NULL, 0x2000, 4, 'c', ITRACE_SPACE_EL1N },
		{ "file=code.bin\naddress=0x2000\noffset=3\nspace=H\n", NULL, 0x2000, 6, 'd', ITRACE_SPACE_EL2N },
		{ "file=code.bin\naddress=0x2000\nspace=xyz\n", NULL, 0x2000, 8, 'a', ITRACE_SPACE_ANY },
		{ "file=code.bin\naddress=0xfffffffffffffff8\nspace=S\n", NULL, 0xfffffffffffffff8, 8, 'a', ITRACE_SPACE_S },
		{ "file=code.bin\naddress=0x2000\nlength=10\n", "more than", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0x2000\noffset=10\n", "more than", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0x2000\nlength=2\noffset=0xffffffffffffffff\n", "more than", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0x2000\nlength=3\n", "length is odd", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0x2001\n", "address is odd", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0xfffffffffffffffc\n", "end of the address space", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=0x1006\nlength=2\n", "overlaps an earlier dump at 0x1000", 0, 0, 0, 0 },
		{ "file=code.bin\n", "no address=", 0, 0, 0, 0 },
		{ "address=0\n", "no file=", 0, 0, 0, 0 },
		{ "file=code.bin\naddress=zero\n", "address is not a number", 0, 0, 0, 0 },
		{ "file=absent.bin\naddress=0\n", "absent.bin: No such file", 0, 0, 0, 0 },
		{ "file=.\naddress=0\n", "is a directory", 0, 0, 0, 0 },
		{ "file=empty.bin\naddress=0\n", "no bytes in it", 0, 0, 0, 0 },
	};

	put_file("empty.bin", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s[dump2]\n%s", cpu_ini, cases[i].keys);
		put_file("cpu.ini", text);
		if (cases[i].note) {
			noted("cpu.ini:10: [dump2] left out: ");
			noted(cases[i].note);
			continue;
		}
		struct itrace_snapshot *snapshot = read_it();
		/* a space that is not known is noted */
		assert_int_equal(snapshot->note_count, strstr(cases[i].keys, "xyz") ? 1 : 0);
		assert_int_equal(snapshot->cores[0].segment_count, 2);
		const struct itrace_segment *segment = &snapshot->cores[0].segments[1];
		assert_int_equal(segment->addr, cases[i].addr);
		assert_int_equal(segment->len, cases[i].len);
		assert_int_equal(segment->data[0], cases[i].first);
		assert_int_equal(segment->space, cases[i].space);
		itrace_snapshot_free(snapshot);
	}

	/* the same place in another memory space is no overlap */
	put_file("cpu.ini", "[device]\nname=cpu_0\nclass=core\ntype=ARMv8-A\n"
		"[dump1]\nfile=code.bin\naddress=0x1000\nspace=EL1N\n"
		"[dump2]\nfile=code.bin\naddress=0x1000\nspace=EL1S\n[dump3]\nfile=code.bin\naddress=0x1004\nspace=N\n");
	noted("[dump3] left out");
}

static void test_space_names(void **state)
{
	(void)state;
	assert_int_equal(itrace_snapshot_space("EL1S"), ITRACE_SPACE_EL1S);
	assert_int_equal(itrace_snapshot_space("EL2"), ITRACE_SPACE_EL2N);
	assert_int_equal(itrace_snapshot_space("ROOT"), ITRACE_SPACE_ROOT);
	assert_int_equal(itrace_snapshot_space("SP"), ITRACE_SPACE_EL1S);
	assert_int_equal(itrace_snapshot_space("P"), ITRACE_SPACE_EL1N);
	assert_int_equal(itrace_snapshot_space("R"), ITRACE_SPACE_R);
	assert_int_equal(itrace_snapshot_space("el1s"), ITRACE_SPACE_ANY);
	assert_int_equal(itrace_snapshot_space(NULL), ITRACE_SPACE_ANY);
}

/* Bounds hold on large but legal input, and take no time to speak of. */
static void test_large(void **state)
{
	(void)state;
	char *text = malloc(ITRACE_SNAPSHOT_INI_MAX + 1);
	assert_non_null(text);
	size_t len = (size_t)sprintf(text, "[device]\nname=cpu_0\nclass=core\ntype=ARMv8-A\n[regs]\n");
	for (unsigned int i = 0; i < 50000; i++)
		len += (size_t)sprintf(text + len, "R%u=%u\n", i, i);
	for (unsigned int i = 0; i < 20000; i++)
		len += (size_t)sprintf(text + len, "[dump%u]\nfile=code.bin\naddress=%u\nlength=2\n", i, i * 16);
	put_bytes("cpu.ini", text, len);
	struct itrace_snapshot *snapshot = read_it();
	assert_int_equal(snapshot->cores[0].segment_count, ITRACE_SNAPSHOT_DUMPS_MAX);
	assert_int_equal(snapshot->note_count, 257);
	assert_non_null(strstr(snapshot->notes[0], "too many dumps"));
	assert_non_null(strstr(snapshot->notes[256], "further notes"));
	itrace_snapshot_free(snapshot);

	memset(text, ';', ITRACE_SNAPSHOT_INI_MAX + 1);
	put_bytes("cpu.ini", text, ITRACE_SNAPSHOT_INI_MAX);
	snapshot = read_it();
	assert_int_equal(snapshot->note_count, 2);
	assert_non_null(strstr(snapshot->notes[0], "cpu.ini: no [device] with class=core"));
	assert_non_null(strstr(snapshot->notes[1], "no core called 'cpu_0'"));
	itrace_snapshot_free(snapshot);
	put_bytes("cpu.ini", text, ITRACE_SNAPSHOT_INI_MAX + 1);
	refused("cpu.ini", "larger than");
	free(text);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const char *snapshots_dir(void)
{
	const char *given = getenv("SNAPSHOTS");
	struct stat st;

	if (!given)
		given = "../shared/data/opencsd";
	return stat(given, &st) ? NULL : given;
}

static const struct {
	const char *name;
	size_t buffers, sources, cores, segments, notes;
	const char *first;	/* buffer */
} given[] = {
	{ "ete/001-ack_test", 1, 1, 1, 125, 0, "ETB_1" },
	{ "ete/ete-ite-instr", 2, 2, 1, 4, 0, "ETB_2" },
	{ "ete/ete_ip", 1, 1, 1, 8, 0, "ETB_1" },
	{ "ete/event_test", 1, 1, 1, 0, 2, "ETB_1" },
	{ "ete/rme_test", 3, 3, 1, 4, 0, "ETB_1" },
	{ "etmv4/a57_single_step", 1, 1, 1, 1, 0, "CSTMC_TRACE_FIFO" },
	{ "etmv4/juno-uname-002-ovf", 1, 6, 6, 4, 0, "ETB_0" },
};

static void test_given(void **state)
{
	(void)state;
	if (!snapshots_dir())
		skip();
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		char path[512], why[512];
		snprintf(path, sizeof(path), "%s/%s", snapshots_dir(), given[i].name);
		struct itrace_snapshot *snapshot = itrace_snapshot_read(path, 0, why, sizeof(why));
		if (!snapshot)
			fail_msg("%s", why);
		assert_int_equal(snapshot->buffer_count, given[i].buffers);
		assert_int_equal(snapshot->source_count, given[i].sources);
		assert_int_equal(snapshot->core_count, given[i].cores);
		assert_int_equal(snapshot->note_count, given[i].notes);
		assert_string_equal(snapshot->buffers[0].name, given[i].first);
		for (size_t k = 0; k < snapshot->source_count; k++) {
			assert_null(snapshot->sources[k].why);
			assert_string_equal(snapshot->sources[k].defaulted, "");
		}
		size_t count;
		free(itrace_snapshot_segments(snapshot, 0, 0, &count));
		assert_int_equal(count, given[i].segments);
		itrace_snapshot_free(snapshot);
	}
}

/* What trc_pkt_lister prints of packets and elements. @returns a hash, 0: it printed none */
static uint64_t lister_hash(const char *path, const char *options, size_t *line_count)
{
	char command[700], line[4096];
	uint64_t hash = 1469598103934665603u;

	*line_count = 0;
	snprintf(command, sizeof(command), "trc_pkt_lister -ss_dir '%s' -decode %s -logstdout 2>/dev/null", path, options);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Idx:", 4))
			continue;
		(*line_count)++;
		for (const char *c = line; *c; c++)
			hash = (hash ^ (uint8_t)*c) * 1099511628211u;
	}
	pclose(f);
	return *line_count ? hash : 0;
}

/* Write what was read: OpenCSD decodes it to the same lines, and we read the same again. */
static void rewrite(const char *from, const char *options)
{
	char why[512], to[512];
	struct itrace_snapshot *snapshot = itrace_snapshot_read(from, 0, why, sizeof(why));
	if (!snapshot)
		fail_msg("%s", why);
	struct itrace_snapshot_write_core cores[8] = { 0 };
	struct itrace_snapshot_write_source sources[8] = { 0 };
	struct itrace_snapshot_write_buffer buffers[8] = { 0 };
	struct itrace_snapshot_content content = { cores, snapshot->core_count, sources, 0, buffers,
		snapshot->buffer_count };
	for (size_t i = 0; i < snapshot->core_count; i++) {
		cores[i].name = snapshot->cores[i].name;
		cores[i].profile = snapshot->cores[i].profile;
		cores[i].arch = snapshot->cores[i].arch;
		cores[i].segments = snapshot->cores[i].segments;
		cores[i].segment_count = snapshot->cores[i].segment_count;
	}
	for (size_t i = 0; i < snapshot->buffer_count; i++) {
		buffers[i].name = snapshot->buffers[i].name;
		buffers[i].framing = snapshot->buffers[i].framing;
		buffers[i].path = snapshot->buffers[i].path;
		for (size_t k = 0; k < snapshot->buffers[i].source_count; k++) {
			const struct itrace_snapshot_source *source = &snapshot->sources[snapshot->buffers[i].sources[k]];
			struct itrace_snapshot_write_source *copy = &sources[content.source_count++];
			copy->name = source->name;
			copy->protocol = source->protocol;
			copy->regs = source->regs;
			copy->core = source->core;
			copy->buffer = i;
		}
	}
	snprintf(to, sizeof(to), "%s/out", dir);
	if (itrace_snapshot_write(to, &content, why, sizeof(why)))
		fail_msg("%s", why);

	struct itrace_snapshot *again = itrace_snapshot_read(to, 0, why, sizeof(why));
	if (!again)
		fail_msg("%s", why);
	assert_int_equal(again->note_count, 0);
	assert_int_equal(again->buffer_count, snapshot->buffer_count);
	assert_int_equal(again->source_count, content.source_count);
	for (size_t i = 0; i < again->buffer_count; i++) {
		assert_int_equal(again->buffers[i].framing, snapshot->buffers[i].framing);
		assert_int_equal(again->buffers[i].len, snapshot->buffers[i].len);
	}
	for (size_t i = 0; i < again->source_count; i++)
		assert_memory_equal(&again->sources[i].regs, &sources[i].regs, sizeof(sources[i].regs));
	itrace_snapshot_free(again);

	/* onto itself: the trace must survive */
	for (size_t i = 0; i < snapshot->buffer_count; i++) {
		static char paths[8][600];
		snprintf(paths[i], sizeof(paths[i]), "%s/trace%zu.bin", to, i);
		buffers[i].path = paths[i];
	}
	if (itrace_snapshot_write(to, &content, why, sizeof(why)))
		fail_msg("%s", why);

	if (!system("command -v trc_pkt_lister >/dev/null 2>&1")) {
		size_t before, after;
		uint64_t hash = lister_hash(from, options, &before);
		assert_true(before > 0);
		if (lister_hash(to, options, &after) != hash)
			fail_msg("%s: %zu lines, as written by us %zu others", from, before, after);
	}
	itrace_snapshot_free(snapshot);
	remove_tree(to);
}

static void test_rewrite_given(void **state)
{
	(void)state;
	if (!snapshots_dir())
		skip();
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s", snapshots_dir(), given[i].name);
		rewrite(path, given[i].buffers > 1 ? "-multi_session" : "");
	}
}

struct reader {
	const char *bytes;
	size_t len;
	bool fails;
};

static long read_some(void *ctx, uint8_t *dst, size_t len)
{
	struct reader *reader = ctx;
	size_t n = reader->len < 3 ? reader->len : 3;

	assert_true(len >= 3);
	memcpy(dst, reader->bytes, n);
	reader->bytes += n;
	reader->len -= n;
	return !n && reader->fails ? -1 : (long)n;
}

/* Segments that overlap, touch, begin at odd addresses and differ in space come back as the image sees them. */
static void test_write_pieces(void **state)
{
	(void)state;
	static const uint8_t bytes[] = "0123456789abcdef";
	const struct itrace_segment segments[] = {
		{ .addr = 0x1004, .len = 4, .data = bytes, .space = ITRACE_SPACE_N },
		{ .addr = 0x1000, .len = 16, .data = bytes, .space = ITRACE_SPACE_ANY },
		{ .addr = 0x1010, .len = 4, .data = bytes, .space = ITRACE_SPACE_ANY },
		{ .addr = 0x2001, .len = 6, .data = bytes, .space = ITRACE_SPACE_EL1S | ITRACE_SPACE_EL2R },
		{ .addr = 0x3000, .len = 1, .data = bytes, .space = ITRACE_SPACE_ANY },
		{ .addr = 0x3000, .len = 0, .data = NULL, .space = ITRACE_SPACE_ANY },
		{ .addr = UINT64_MAX - 3, .len = 4, .data = bytes, .space = ITRACE_SPACE_ANY },
	};
	struct itrace_snapshot_write_core core = { .name = "cpu", .profile = ITRACE_PROFILE_A, .arch = ITRACE_ARCH_V9,
		.segments = segments, .segment_count = sizeof(segments) / sizeof(segments[0]) };
	struct itrace_snapshot_write_source source = { .name = "ETE", .protocol = ITRACE_PROTOCOL_ETE };
	struct reader reader = { .bytes = "hello trace", .len = 11 };
	struct itrace_snapshot_write_buffer buffer = { .name = "ETB", .framing = ITRACE_FRAMING_CORESIGHT,
		.read = read_some, .ctx = &reader };
	struct itrace_snapshot_content content = { &core, 1, &source, 1, &buffer, 1 };
	char why[512];

	itrace_ete_registers_default(ITRACE_PROTOCOL_ETE, &source.regs);
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), 0);
	assert_string_equal(why, "");
	struct itrace_snapshot *snapshot = read_it();
	assert_int_equal(snapshot->note_count, 0);
	assert_int_equal(snapshot->buffers[0].len, 11);
	assert_int_equal(snapshot->cores[0].arch, ITRACE_ARCH_V9);

	struct itrace_image *before = calloc(1, sizeof(*before));
	struct itrace_image *after = calloc(1, sizeof(*after));
	assert_true(before && after);
	itrace_image_init(before, segments, core.segment_count, NULL, NULL);
	itrace_image_init(after, snapshot->cores[0].segments, snapshot->cores[0].segment_count, NULL, NULL);
	for (unsigned int bit = 0; bit < 8; bit++) {
		for (uint64_t addr = 0xfff; addr < 0x3002; addr++) {
			/* odd ends are left out */
			if (addr == 0x2001 || addr == 0x2006 || addr == 0x3000)
				continue;
			size_t n;
			const uint8_t *left = itrace_image_at(before, addr, 1u << bit, &n, NULL);
			const uint8_t *right = itrace_image_at(after, addr, 1u << bit, &n, NULL);
			assert_int_equal(!left, !right);
			if (left)
				assert_int_equal(*left, *right);
		}
	}
	/* pieces that touch are one dump: an instruction may span them */
	size_t avail;
	assert_non_null(itrace_image_at(after, 0x100e, ITRACE_SPACE_EL3, &avail, NULL));
	assert_int_equal(avail, 6);
	assert_non_null(itrace_image_at(after, UINT64_MAX, ITRACE_SPACE_EL3, &avail, NULL));
	free(before);
	free(after);
	itrace_snapshot_free(snapshot);
}

static void test_write_fails(void **state)
{
	(void)state;
	struct itrace_snapshot_write_core core = { .name = "cpu" };
	struct itrace_snapshot_write_source source = { .name = "ETE", .protocol = ITRACE_PROTOCOL_ETE };
	struct reader reader = { .bytes = "x", .len = 1, .fails = true };
	struct itrace_snapshot_write_buffer buffer = { .name = "ETB", .read = read_some, .ctx = &reader };
	struct itrace_snapshot_content content = { &core, 1, &source, 1, &buffer, 1 };
	char why[512];

	itrace_ete_registers_default(ITRACE_PROTOCOL_ETE, &source.regs);
	/* the trace cannot be read */
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "trace cannot be read"));
	assert_file_has("snapshot.ini", "a=cpu.ini");
	assert_int_equal(access(in_dir("core0.ini"), F_OK), -1);
	/* nor is there one, so that nobody takes it for whole, where there was none */
	assert_int_equal(remove(in_dir("snapshot.ini")), 0);
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_int_equal(access(in_dir("snapshot.ini"), F_OK), -1);

	buffer.read = NULL;
	buffer.path = "/nonexistent/trace";
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "/nonexistent/trace: No such file"));
	buffer.path = NULL;
	assert_int_equal(access(in_dir("trace0.bin"), F_OK), -1);
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "trace0.bin: no trace is there"));
	put_file("trace0.bin", "abc");
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), 0);
	/* what was there stays, whatever fails, and nothing lies beside it */
	core.name = "other";
	buffer.read = read_some;
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	buffer.read = NULL;
	assert_file_has("core0.ini", "name=cpu\n");
	assert_file_has("trace0.bin", "abc");
	assert_int_equal(access(in_dir("snapshot.ini"), F_OK), 0);
	assert_int_equal(access(in_dir("core0.ini.new"), F_OK), -1);
	assert_int_equal(access(in_dir("trace0.bin.new"), F_OK), -1);
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), 0);
	assert_file_has("core0.ini", "name=other\n");
	/* a directory in the place of a file */
	assert_int_equal(remove(in_dir("trace.ini")), 0);
	assert_int_equal(mkdir(in_dir("trace.ini"), 0777), 0);
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "trace.ini: not a file"));
	assert_int_equal(rmdir(in_dir("trace.ini")), 0);
	assert_int_equal(access(in_dir("snapshot.ini"), F_OK), 0);

	buffer.framing = ITRACE_FRAMING_TPIU;
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "TPIU"));
	buffer.framing = ITRACE_FRAMING_RAW;
	source.name = "a=b";
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "'a=b' cannot be the name"));
	source.name = "ETE";
	source.core = 1;
	assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
	source.core = 0;
	assert_int_equal(itrace_snapshot_write(in_dir("cpu.ini"), &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "not a directory"));
	assert_int_equal(itrace_snapshot_write("/nonexistent/dir", &content, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "/nonexistent/dir: No such file"));
	if (!access("/dev/full", W_OK)) {
		/* a full disk, by a link in the place where the file is written */
		assert_int_equal(symlink("/dev/full", in_dir("trace.ini.new")), 0);
		assert_int_equal(itrace_snapshot_write(dir, &content, why, sizeof(why)), -1);
		assert_non_null(strstr(why, "trace.ini: No space left"));
		assert_int_equal(access(in_dir("trace.ini.new"), F_OK), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_good, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whole_is_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_device_is_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_source_is_bad, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dumps, setup, teardown),
		cmocka_unit_test(test_space_names),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test(test_given),
		cmocka_unit_test_setup_teardown(test_rewrite_given, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_write_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

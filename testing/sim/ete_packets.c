// SPDX-License-Identifier: GPL-2.0-or-later

#include "ete_packets.h"

#include <assert.h>
#include <string.h>

static bool chance(struct ete_packets *p, unsigned int permille)
{
	return sim_random_chance(&p->random, permille);
}

/* Ignore exists in ETE and from ETMv4.3. */
static void maybe_ignore(struct ete_packets *p)
{
	if (p->config.etmv4 && p->config.minor < 3)
		return;
	while (chance(p, p->rates.ignore))
		sim_buffer_byte(p->out, 0x70);
}

static void put_le128(struct ete_packets *p, uint32_t number)
{
	while (number >= 0x80) {
		sim_buffer_byte(p->out, number | 0x80);
		number >>= 7;
	}
	sim_buffer_byte(p->out, number);
}

void ete_put_async(struct ete_packets *p)
{
	maybe_ignore(p);
	sim_buffer_le(p->out, 0, 8);
	sim_buffer_le(p->out, 0x80000000, 4);
}

void ete_put_trace_info(struct ete_packets *p, unsigned int spec, bool in_transaction)
{
	unsigned int info = (p->config.cycle_counts ? 1 : 0) | (in_transaction ? 0x40 : 0);
	unsigned int plctl = 0;

	if (info || chance(p, 500))
		plctl |= 1;
	if (spec || (p->config.max_spec_depth && chance(p, 300)))
		plctl |= 4;
	if (p->config.cycle_counts)
		plctl |= 8;

	maybe_ignore(p);
	sim_buffer_byte(p->out, 0x01);
	sim_buffer_byte(p->out, plctl);
	if (plctl & 1)
		put_le128(p, info);
	if (plctl & 4)
		put_le128(p, spec);
	if (plctl & 8)
		put_le128(p, p->config.cc_threshold);
	memset(p->history, 0, sizeof(p->history));
	p->timestamp = 0;
	/* A decoder that joins here has no IDs. */
	p->context_sent = false;
}

void ete_put_header(struct ete_packets *p, uint8_t header)
{
	maybe_ignore(p);
	sim_buffer_byte(p->out, header);
}

void ete_put_bytes2(struct ete_packets *p, uint8_t a, uint8_t b)
{
	ete_put_header(p, a);
	sim_buffer_byte(p->out, b);
}

void ete_put_number(struct ete_packets *p, uint8_t header, uint32_t number)
{
	ete_put_header(p, header);
	put_le128(p, number);
}

static unsigned int timestamp_len(const struct ete_packets *p, uint64_t timestamp)
{
	for (unsigned int len = 1; len < 9; len++) {
		if ((timestamp ^ p->timestamp) >> (7 * len) == 0)
			return len;
	}
	return 9;
}

void ete_put_timestamp(struct ete_packets *p, uint64_t timestamp, int32_t cycles)
{
	unsigned int len = timestamp_len(p, timestamp);

	if (chance(p, p->rates.full_timestamp))
		len = sim_random_range(&p->random, len, 9);
	ete_put_header(p, cycles >= 0 ? 0x03 : 0x02);
	for (unsigned int i = 0; i + 1 < len && i < 8; i++)
		sim_buffer_byte(p->out, (timestamp >> (7 * i)) | 0x80);
	if (len == 9)
		sim_buffer_byte(p->out, timestamp >> 56);
	else
		sim_buffer_byte(p->out, (timestamp >> (7 * (len - 1))) & 0x7f);
	if (cycles >= 0)
		put_le128(p, cycles);
	p->timestamp = timestamp;
}

static void history_push(struct ete_packets *p, uint64_t address, bool is1)
{
	p->history[2] = p->history[1];
	p->history[1] = p->history[0];
	p->history[0].address = address;
	p->history[0].is1 = is1;
}

enum form {
	FORM_EXACT0,
	FORM_EXACT1,
	FORM_EXACT2,
	FORM_SHORT1,
	FORM_SHORT2,
	FORM_LONG32,
	FORM_LONG64,
	FORM_NUM
};

/* Which forms can tell this address, given the history; in order of size. */
static unsigned int possible_forms(const struct ete_packets *p, uint64_t address, bool is1,
		enum form forms[FORM_NUM])
{
	uint64_t changed = address ^ p->history[0].address;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (p->history[i].address == address && p->history[i].is1 == is1)
			forms[n++] = FORM_EXACT0 + i;
	}
	if (changed >> (is1 ? 8 : 9) == 0)
		forms[n++] = FORM_SHORT1;
	if (changed >> (is1 ? 16 : 17) == 0)
		forms[n++] = FORM_SHORT2;
	if (changed >> 32 == 0)
		forms[n++] = FORM_LONG32;
	if (p->config.isa == SIM_A64 || changed >> 32)
		forms[n++] = FORM_LONG64;
	return n;
}

static enum form choose_form(struct ete_packets *p, uint64_t address, bool is1, enum form smallest)
{
	enum form forms[FORM_NUM];
	unsigned int n = possible_forms(p, address, is1, forms);
	unsigned int first = 0;

	while (first < n && forms[first] < smallest)
		first++;
	assert(first < n);
	if (chance(p, p->rates.smallest_address))
		return forms[first];
	return forms[first + sim_random_below(&p->random, n - first)];
}

static void put_address_payload(struct ete_packets *p, enum form form, uint64_t address, bool is1)
{
	uint8_t low = is1 ? (address >> 1) & 0x7f : (address >> 2) & 0x7f;
	uint8_t second = is1 ? address >> 8 : address >> 9;

	switch (form) {
	case FORM_SHORT1:
		sim_buffer_byte(p->out, low);
		break;
	case FORM_SHORT2:
		sim_buffer_byte(p->out, low | 0x80);
		sim_buffer_byte(p->out, second);
		break;
	case FORM_LONG32:
	case FORM_LONG64:
		sim_buffer_byte(p->out, low);
		sim_buffer_byte(p->out, is1 ? second : second & 0x7f);
		sim_buffer_le(p->out, address >> 16, form == FORM_LONG64 ? 6 : 2);
		break;
	default:
		break;
	}
}

void ete_put_address(struct ete_packets *p, enum ete_address_use use, uint64_t address, enum sim_isa isa)
{
	static const uint8_t target_headers[FORM_NUM] = { 0x90, 0x91, 0x92, 0x95, 0x95, 0x9a, 0x9d };
	static const uint8_t source_headers[FORM_NUM] = { 0xb0, 0xb1, 0xb2, 0xb4, 0xb4, 0xb6, 0xb8 };
	bool is1 = isa == SIM_T32;
	enum form form = choose_form(p, address, is1, FORM_EXACT0);
	uint8_t header = use == ETE_ADDRESS_SOURCE ? source_headers[form] : target_headers[form];

	if (use != ETE_ADDRESS_OF_EXCEPTION)
		maybe_ignore(p);
	sim_buffer_byte(p->out, form >= FORM_SHORT1 && is1 ? header + 1 : header);
	put_address_payload(p, form, address, is1);
	history_push(p, address, is1);
}

static void put_context_payload(struct ete_packets *p, const struct ete_context *context)
{
	bool skip = p->context_sent && chance(p, p->rates.skip_ids);
	bool with_cid = p->config.cid_len && !(skip && context->cid == p->last_context.cid);
	bool with_vmid = p->config.vmid_len && !(skip && context->vmid == p->last_context.vmid);
	bool ns = context->security == ETE_NON_SECURE || context->security == ETE_REALM;
	bool nse = context->security == ETE_ROOT || context->security == ETE_REALM;

	sim_buffer_byte(p->out, (with_cid ? 0x80 : 0) | (with_vmid ? 0x40 : 0) | (ns ? 0x20 : 0) |
			(context->aarch64 ? 0x10 : 0) | (nse ? 0x08 : 0) | context->el);
	if (with_vmid)
		sim_buffer_le(p->out, context->vmid, p->config.vmid_len);
	if (with_cid)
		sim_buffer_le(p->out, context->cid, p->config.cid_len);
	p->last_context = *context;
	p->context_sent = true;
}

void ete_put_context(struct ete_packets *p, const struct ete_context *context, bool exception)
{
	if (!exception)
		maybe_ignore(p);
	sim_buffer_byte(p->out, 0x81);
	put_context_payload(p, context);
}

void ete_put_address_context(struct ete_packets *p, uint64_t address, enum sim_isa isa,
		const struct ete_context *context, bool exception)
{
	bool is1 = isa == SIM_T32;
	enum form form = choose_form(p, address, is1, FORM_LONG32);

	if (!exception)
		maybe_ignore(p);
	sim_buffer_byte(p->out, (form == FORM_LONG64 ? 0x85 : 0x82) + (is1 ? 1 : 0));
	put_address_payload(p, form, address, is1);
	put_context_payload(p, context);
	history_push(p, address, is1);
}

bool ete_q_can_hold(const struct ete_packets *p, uint64_t address)
{
	return (address ^ p->history[0].address) >> 32 == 0;
}

void ete_put_q(struct ete_packets *p, unsigned int count, uint64_t address, enum sim_isa isa, bool following)
{
	bool is1 = isa == SIM_T32;
	enum form form;

	maybe_ignore(p);
	if (following) {
		sim_buffer_byte(p->out, count ? 0xac : 0xaf);
		if (count)
			put_le128(p, count);
		return;
	}
	do {
		form = choose_form(p, address, is1, FORM_EXACT0);
	} while (form == FORM_LONG64);
	if (form < FORM_SHORT1)
		sim_buffer_byte(p->out, 0xa0 + form);
	else
		sim_buffer_byte(p->out, (form == FORM_LONG32 ? 0xaa : 0xa5) + (is1 ? 1 : 0));
	put_address_payload(p, form, address, is1);
	put_le128(p, count);
	history_push(p, address, is1);
}

void ete_put_exception(struct ete_packets *p, unsigned int e, unsigned int type, bool fault_pending)
{
	bool third = type > 31 || fault_pending || chance(p, p->rates.long_exception);

	ete_put_header(p, 0x06);
	sim_buffer_byte(p->out, (third ? 0x80 : 0) | (e & 2 ? 0x40 : 0) | (type & 31) << 1 | (e & 1));
	if (third)
		sim_buffer_byte(p->out, (fault_pending ? 0x20 : 0) | type >> 5);
}

void ete_put_exception_special(struct ete_packets *p, unsigned int type)
{
	ete_put_header(p, 0x06);
	sim_buffer_byte(p->out, type << 1 | 1);
	sim_buffer_byte(p->out, 0x70);
	history_push(p, 0, false);
}

/* Format 2 counts commits down from the greatest depth if F is set; without commits hardware sends F=1, AAAA=15. */
static bool format2_commit(const struct ete_packets *p, unsigned int commit, uint8_t *header, uint8_t *field)
{
	unsigned int max = p->config.max_spec_depth;

	if (p->config.commopt) {
		*header = 0x0d;
		*field = 15;
		return true;
	}
	if (commit >= 1 && commit <= 16) {
		*header = 0x0c;
		*field = commit - 1;
		return true;
	}
	if (commit <= max && commit + 15 >= max) {
		*header = 0x0d;
		*field = commit + 15 - max;
		return true;
	}
	return false;
}

static void put_count_format1(struct ete_packets *p, int32_t cycles, unsigned int commit)
{
	sim_buffer_byte(p->out, cycles < 0 ? 0x0f : 0x0e);
	if (!p->config.commopt)
		put_le128(p, commit);
	if (cycles >= 0)
		put_le128(p, cycles - p->config.cc_threshold);
}

void ete_put_cycle_count(struct ete_packets *p, int32_t cycles, unsigned int commit)
{
	int32_t above = cycles - (int32_t)p->config.cc_threshold;
	uint8_t header;
	uint8_t field;

	maybe_ignore(p);
	if (cycles < 0 || chance(p, 100)) {
		put_count_format1(p, cycles, commit);
	} else if (above <= 3 && (p->config.commopt || (commit >= 1 && commit <= 4))) {
		sim_buffer_byte(p->out, 0x10 | (p->config.commopt ? 0 : (commit - 1) << 2) | above);
	} else if (above <= 15 && format2_commit(p, commit, &header, &field)) {
		sim_buffer_byte(p->out, header);
		sim_buffer_byte(p->out, field << 4 | above);
	} else {
		put_count_format1(p, cycles, commit);
	}
}

void ete_put_instrumentation(struct ete_packets *p, unsigned int el, uint64_t value)
{
	ete_put_bytes2(p, 0x09, el);
	sim_buffer_le(p->out, value, 8);
}

struct atom_packet {
	uint8_t header;
	uint8_t len;
};

/* Formats 4 and 5 have fixed patterns; bit n is atom n, 1 = E. */
static const struct {
	uint8_t header;
	uint8_t len;
	uint8_t pattern;
} fixed_patterns[] = {
	{ 0xdc, 4, 0x0e },	/* NEEE */
	{ 0xdd, 4, 0x00 },	/* NNNN */
	{ 0xde, 4, 0x0a },	/* NENE */
	{ 0xdf, 4, 0x05 },	/* ENEN */
	{ 0xf5, 5, 0x1e },	/* NEEEE */
	{ 0xd5, 5, 0x00 },	/* NNNNN */
	{ 0xd6, 5, 0x0a },	/* NENEN */
	{ 0xd7, 5, 0x15 },	/* ENENE */
};

#define FIXED_PATTERN_NUM (sizeof(fixed_patterns) / sizeof(fixed_patterns[0]))

static unsigned int atom_bits(const uint8_t *atoms, unsigned int n)
{
	unsigned int bits = 0;

	for (unsigned int i = 0; i < n; i++)
		bits |= (atoms[i] ? 1u : 0u) << i;
	return bits;
}

/* All packets that can start with these atoms, shortest first. At most 3 + fixed + 22. */
static unsigned int possible_atoms(const uint8_t *atoms, unsigned int n, struct atom_packet *packets)
{
	static const uint8_t bases[] = { 0xf6, 0xd8, 0xf8 };
	unsigned int count = 0;
	unsigned int run = 0;

	for (unsigned int len = 1; len <= 3 && len <= n; len++)
		packets[count++] = (struct atom_packet){ bases[len - 1] + atom_bits(atoms, len), len };
	for (unsigned int i = 0; i < FIXED_PATTERN_NUM; i++) {
		if (fixed_patterns[i].len <= n && atom_bits(atoms, fixed_patterns[i].len) == fixed_patterns[i].pattern)
			packets[count++] = (struct atom_packet){ fixed_patterns[i].header, fixed_patterns[i].len };
	}
	while (run < n && atoms[run])
		run++;
	for (unsigned int len = 4; len <= run && len <= 24; len++)
		packets[count++] = (struct atom_packet){ 0xc0 + len - 4, len };
	if (run >= 3 && run <= 23 && run < n)
		packets[count++] = (struct atom_packet){ 0xe0 + run - 3, run + 1 };
	return count;
}

unsigned int ete_put_atoms(struct ete_packets *p, const uint8_t *atoms, unsigned int n)
{
	struct atom_packet packets[3 + FIXED_PATTERN_NUM + 22];
	unsigned int count = possible_atoms(atoms, n, packets);
	unsigned int pick = sim_random_below(&p->random, count);

	if (chance(p, p->rates.greedy_atoms)) {
		for (pick = 0; pick < count; pick++) {
			unsigned int longer = pick + 1;
			while (longer < count && packets[longer].len <= packets[pick].len)
				longer++;
			if (longer == count)
				break;
		}
	}
	ete_put_header(p, packets[pick].header);
	return packets[pick].len;
}

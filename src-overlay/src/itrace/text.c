// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * Packets, elements and events as lines of text.
 *
 * Every writer here appends at a pointer and returns the new end. None looks at the room that is left: no line is
 * longer than LINE_MAX, so a line is made in the caller's buffer when that is so large, else beside it and cut.
 */

#include <string.h>

#include "image.h"
#include "text.h"

#define ARRAY_NUM(array)	(sizeof(array) / sizeof((array)[0]))
#define LINE_MAX		ITRACE_TEXT_MAX

/* append a string literal */
#define PUT(pos, literal)	put_bytes(pos, literal, sizeof(literal) - 1)

#define M_IRQ_BASE		0x200u
#define M_IRQ_FIRST		0x208u
#define M_IRQ_LAST		0x3efu

#define HEX_ROW(high) \
	high "0" high "1" high "2" high "3" high "4" high "5" high "6" high "7" \
	high "8" high "9" high "a" high "b" high "c" high "d" high "e" high "f"
#define DEC_ROW(high) \
	high "0" high "1" high "2" high "3" high "4" high "5" high "6" high "7" high "8" high "9"

static const char hex_pairs[] =
	HEX_ROW("0") HEX_ROW("1") HEX_ROW("2") HEX_ROW("3") HEX_ROW("4") HEX_ROW("5") HEX_ROW("6") HEX_ROW("7")
	HEX_ROW("8") HEX_ROW("9") HEX_ROW("a") HEX_ROW("b") HEX_ROW("c") HEX_ROW("d") HEX_ROW("e") HEX_ROW("f");

static const char dec_pairs[] =
	DEC_ROW("0") DEC_ROW("1") DEC_ROW("2") DEC_ROW("3") DEC_ROW("4")
	DEC_ROW("5") DEC_ROW("6") DEC_ROW("7") DEC_ROW("8") DEC_ROW("9");

static inline char *put_bytes(char *pos, const char *bytes, size_t len)
{
	memcpy(pos, bytes, len);
	return pos + len;
}

static char *put_string(char *pos, const char *string)
{
	while (*string)
		*pos++ = *string++;
	return pos;
}

/* Fill [pos, pos + digits) from the right. */
static inline char *put_hex_digits(char *pos, uint64_t value, unsigned int digits)
{
	char *end = pos + digits;
	char *at = end;

	for (; digits >= 2; digits -= 2, value >>= 8) {
		at -= 2;
		memcpy(at, hex_pairs + 2 * (value & 0xff), 2);
	}
	if (digits)
		*pos = hex_pairs[2 * (value & 0xf) + 1];
	return end;
}

static inline char *put_hex(char *pos, uint64_t value)
{
	unsigned int digits = 1;
	uint64_t rest = value;

	if (rest >> 32) {
		digits += 8;
		rest >>= 32;
	}
	if (rest >> 16) {
		digits += 4;
		rest >>= 16;
	}
	if (rest >> 8) {
		digits += 2;
		rest >>= 8;
	}
	if (rest >> 4)
		digits++;
	return put_hex_digits(pos, value, digits);
}

/* At least @a width digits. */
static char *put_hex_width(char *pos, uint64_t value, unsigned int width)
{
	if (value >> (4 * width - 1) >> 1)
		return put_hex(pos, value);
	return put_hex_digits(pos, value, width);
}

static char *put_hex_upper(char *pos, uint64_t value, unsigned int width)
{
	char *end = put_hex_width(pos, value, width);

	for (; pos < end; pos++)
		if (*pos >= 'a')
			*pos -= 'a' - 'A';
	return end;
}

static inline char *put_dec(char *pos, uint64_t value)
{
	unsigned int digits = 1;
	for (uint64_t limit = 10; value >= limit; limit *= 10) {
		if (++digits == 20)
			break;
	}

	char *end = pos + digits;
	char *at = end;
	for (; digits >= 2; digits -= 2, value /= 100) {
		at -= 2;
		memcpy(at, dec_pairs + 2 * (value % 100), 2);
	}
	if (digits)
		*pos = (char)('0' + value);
	return end;
}

static char *put_pad(char *pos, const char *start, size_t width)
{
	while ((size_t)(pos - start) < width)
		*pos++ = ' ';
	return pos;
}

/* @returns what the public functions return for the line [line, end), which may stand in @a buf already */
static size_t line_finish(const char *line, const char *end, char *buf, size_t size)
{
	size_t len = (size_t)(end - line);

	if (!size)
		return 0;
	if (len >= size)
		len = size - 1;
	if (line != buf)
		memcpy(buf, line, len);
	buf[len] = 0;
	return len;
}

/* OpenCSD's lines */

static const char * const packet_descriptions[] = {
	[ITRACE_PACKET_NOT_SYNC] = "I Stream not synchronised",
	[ITRACE_PACKET_INCOMPLETE] = "Incomplete packet at end of trace.",
	[ITRACE_PACKET_BAD_SEQUENCE] = "Invalid Sequence in packet.",
	[ITRACE_PACKET_RESERVED] = "Reserved Packet Header",
	[ITRACE_PACKET_RESERVED_CFG] = "Reserved header for current configuration.",
	[ITRACE_PACKET_EXTENSION] = "Extension packet header.",
	[ITRACE_PACKET_ASYNC] = "Alignment Synchronisation.",
	[ITRACE_PACKET_DISCARD] = "Discard.",
	[ITRACE_PACKET_OVERFLOW] = "Overflow.",
	[ITRACE_PACKET_TRACE_INFO] = "Trace Info.",
	[ITRACE_PACKET_TIMESTAMP] = "Timestamp.",
	[ITRACE_PACKET_TRACE_ON] = "Trace On.",
	[ITRACE_PACKET_FUNCTION_RETURN] = "V8M - function return.",
	[ITRACE_PACKET_EXCEPTION] = "Exception.",
	[ITRACE_PACKET_PE_RESET] = "PE Reset.",
	[ITRACE_PACKET_TRANSACTION_FAIL] = "Transaction Fail.",
	[ITRACE_PACKET_EXCEPTION_RETURN] = "Exception Return.",
	[ITRACE_PACKET_INSTRUMENTATION] = "Instrumentation",
	[ITRACE_PACKET_TRANSACTION_START] = "Transaction Start.",
	[ITRACE_PACKET_TRANSACTION_COMMIT] = "Transaction Commit.",
	[ITRACE_PACKET_CYCLES_F1] = "Cycle Count format 1.",
	[ITRACE_PACKET_CYCLES_F2] = "Cycle Count format 2.",
	[ITRACE_PACKET_CYCLES_F3] = "Cycle Count format 3.",
	[ITRACE_PACKET_SYNC_NUMBERED] = "Data Synchronisation Marker - Numbered.",
	[ITRACE_PACKET_SYNC_UNNUMBERED] = "Data Synchronisation Marker - Unnumbered.",
	[ITRACE_PACKET_COMMIT] = "Commit",
	[ITRACE_PACKET_CANCEL_F1] = "Cancel Format 1.",
	[ITRACE_PACKET_CANCEL_F1_MISPREDICT] = "Cancel Format 1 + Mispredict.",
	[ITRACE_PACKET_MISPREDICT] = "Mispredict.",
	[ITRACE_PACKET_CANCEL_F2] = "Cancel Format 2.",
	[ITRACE_PACKET_CANCEL_F3] = "Cancel Format 3.",
	[ITRACE_PACKET_COND_INSTR_F1] = "Conditional Instruction, format 1.",
	[ITRACE_PACKET_COND_INSTR_F2] = "Conditional Instruction, format 2.",
	[ITRACE_PACKET_COND_INSTR_F3] = "Conditional Instruction, format 3.",
	[ITRACE_PACKET_COND_FLUSH] = "Conditional Flush.",
	[ITRACE_PACKET_COND_RESULT_F1] = "Conditional Result, format 1.",
	[ITRACE_PACKET_COND_RESULT_F2] = "Conditional Result, format 2.",
	[ITRACE_PACKET_COND_RESULT_F3] = "Conditional Result, format 3.",
	[ITRACE_PACKET_COND_RESULT_F4] = "Conditional Result, format 4.",
	[ITRACE_PACKET_IGNORE] = "Ignore.",
	[ITRACE_PACKET_EVENT] = "Trace Event.",
	[ITRACE_PACKET_CONTEXT] = "Context Packet.",
	[ITRACE_PACKET_ADDR_CONTEXT_32_IS0] = "Address & Context, Long, 32 bit, IS0.",
	[ITRACE_PACKET_ADDR_CONTEXT_32_IS1] = "Address & Context, Long, 32 bit, IS0.",	/* so it prints */
	[ITRACE_PACKET_ADDR_CONTEXT_64_IS0] = "Address & Context, Long, 64 bit, IS0.",
	[ITRACE_PACKET_ADDR_CONTEXT_64_IS1] = "Address & Context, Long, 64 bit, IS1.",
	[ITRACE_PACKET_MARKER] = "Timestamp Marker",
	[ITRACE_PACKET_ADDR_MATCH] = "Exact Address Match.",
	[ITRACE_PACKET_ADDR_SHORT_IS0] = "Address, Short, IS0.",
	[ITRACE_PACKET_ADDR_SHORT_IS1] = "Address, Short, IS1.",
	[ITRACE_PACKET_ADDR_32_IS0] = "Address, Long, 32 bit, IS0.",
	[ITRACE_PACKET_ADDR_32_IS1] = "Address, Long, 32 bit, IS1.",
	[ITRACE_PACKET_ADDR_64_IS0] = "Address, Long, 64 bit, IS0.",
	[ITRACE_PACKET_ADDR_64_IS1] = "Address, Long, 64 bit, IS1.",
	[ITRACE_PACKET_Q] = "Q Packet.",
	[ITRACE_PACKET_SOURCE_MATCH] = "Exact Source Address Match.",
	[ITRACE_PACKET_SOURCE_SHORT_IS0] = "Source Address, Short, IS0.",
	[ITRACE_PACKET_SOURCE_SHORT_IS1] = "Source Address, Short, IS1.",
	[ITRACE_PACKET_SOURCE_32_IS0] = "Source Address, Long, 32 bit, IS0.",
	[ITRACE_PACKET_SOURCE_32_IS1] = "Source Address, Long, 32 bit, IS1.",
	[ITRACE_PACKET_SOURCE_64_IS0] = "Source Address, Long, 64 bit, IS0.",
	[ITRACE_PACKET_SOURCE_64_IS1] = "Source Address, Long, 64 bit, IS1.",
	[ITRACE_PACKET_ATOM_F1] = "Atom format 1.",
	[ITRACE_PACKET_ATOM_F2] = "Atom format 2.",
	[ITRACE_PACKET_ATOM_F3] = "Atom format 3.",
	[ITRACE_PACKET_ATOM_F4] = "Atom format 4.",
	[ITRACE_PACKET_ATOM_F5] = "Atom format 5.",
	[ITRACE_PACKET_ATOM_F6] = "Atom format 6."
};

_Static_assert(ARRAY_NUM(packet_descriptions) == ITRACE_PACKET_NUM, "each kind of packet needs its description");

/* by {NSE, NS} */
static const char * const packet_security[4] = { "S; ", "NS; ", "Root; ", "Realm; " };
static const char * const event_security[4] = { "S; ", "N; ", "Root; ", "Realm; " };
static const char * const plain_security[4] = { "secure", "non-secure", "root", "realm" };

static unsigned int context_security(unsigned int info)
{
	return (info & ITRACE_CONTEXT_NSE ? 2u : 0u) | (info & ITRACE_CONTEXT_NS ? 1u : 0u);
}

static char *put_atoms(char *pos, uint32_t atoms, unsigned int count)
{
	if (count > 32)
		count = 32;
	for (; count; count--, atoms >>= 1)
		*pos++ = atoms & 1 ? 'E' : 'N';
	return pos;
}

/* The bits that were sent of an address. */
static char *put_sent_bits(char *pos, uint64_t addr, unsigned int bits)
{
	pos = PUT(pos, " ~[0x");
	pos = put_hex_upper(pos, bits < 64 ? addr & (((uint64_t)1 << bits) - 1) : addr, 1);
	return PUT(pos, "]");
}

static char *put_packet_addr(char *pos, const struct itrace_ete_packet *packet)
{
	pos = PUT(pos, "; Addr=0x");
	return put_hex_upper(pos, packet->addr, 16);
}

static char *put_packet_match(char *pos, const struct itrace_ete_packet *packet)
{
	pos = PUT(pos, "[");
	pos = put_dec(pos, packet->info);
	return PUT(pos, "]");
}

static bool packet_has_vmid(const struct itrace_ete_config *config, const struct itrace_ete_packet *packet)
{
	return packet->info & ITRACE_CONTEXT_HAS_VMID && config->vmid_len;
}

static bool packet_has_cid(const struct itrace_ete_config *config, const struct itrace_ete_packet *packet)
{
	return packet->info & ITRACE_CONTEXT_HAS_CID && config->cid_len;
}

static char *put_packet_context(char *pos, const struct itrace_ete_config *config,
		const struct itrace_ete_packet *packet)
{
	if (packet->flags & ITRACE_PKT_CONTEXT_SAME)
		return PUT(pos, "Ctxt: Same");
	if (!(packet->flags & ITRACE_PKT_CONTEXT))
		return pos;

	if (packet->info & ITRACE_CONTEXT_SF)
		pos = PUT(pos, "Ctxt: AArch64,EL");
	else
		pos = PUT(pos, "Ctxt: AArch32, EL");
	*pos++ = (char)('0' + (packet->info & ITRACE_CONTEXT_EL_MASK));
	pos = PUT(pos, ", ");
	pos = put_string(pos, packet_security[context_security(packet->info)]);
	if (packet_has_cid(config, packet)) {
		pos = PUT(pos, "CID=0x");
		pos = put_hex_width(pos, packet->cid, 8);
		pos = PUT(pos, "; ");
	}
	if (packet_has_vmid(config, packet)) {
		pos = PUT(pos, "VMID=0x");
		pos = put_hex_width(pos, packet->vmid, 4);
		pos = PUT(pos, "; ");
	}
	return pos;
}

static char *put_exception_name(char *pos, bool m_profile, unsigned int type)
{
	pos = put_string(pos, itrace_exception_name(m_profile, type));
	if (m_profile && type >= M_IRQ_FIRST && type <= M_IRQ_LAST)
		pos = put_dec(pos, type - M_IRQ_BASE);
	return pos;
}

/* E[1:0] of an exception packet: reserved values are read as 1, but print nothing. */
static bool exception_reserved(const struct itrace_ete_packet *packet)
{
	if (!packet->bytes || packet->len < 2)
		return false;
	return !(packet->bytes[1] & 0x40) == !(packet->bytes[1] & 0x01);
}

static char *put_packet_exception(char *pos, const struct itrace_ete_config *config,
		const struct itrace_ete_packet *packet)
{
	bool m_profile = config->profile == ITRACE_PROFILE_M;

	pos = PUT(pos, ";  ");
	pos = put_exception_name(pos, m_profile, packet->number);
	pos = PUT(pos, ";");
	if (m_profile && packet->flags & ITRACE_PKT_FAULT_PENDING)
		pos = PUT(pos, " Fault Pending;");
	if (exception_reserved(packet))
		return pos;
	if (packet->flags & ITRACE_PKT_MATCHES_TARGET)
		return PUT(pos, " Ret Addr Follows, Match Prev;");
	if (packet->flags & ITRACE_PKT_ADDR_FOLLOWS)
		return PUT(pos, " Ret Addr Follows;");
	return pos;
}

static char *put_packet_info(char *pos, const struct itrace_ete_config *config, const struct itrace_ete_packet *packet)
{
	pos = PUT(pos, "; INFO=0x");
	pos = put_hex(pos, packet->number);
	pos = PUT(pos, " { CC.");
	*pos++ = (char)('0' + (packet->number & 1));
	if (config->protocol == ITRACE_PROTOCOL_ETE) {
		pos = PUT(pos, ", TSTATE.");
		*pos++ = (char)('0' + (packet->number >> 6 & 1));
	}
	pos = PUT(pos, " }");
	if (packet->number & 1) {
		pos = PUT(pos, "; CC_THRESHOLD=0x");
		pos = put_hex(pos, packet->cycles);
	}
	return pos;
}

static char *put_packet_details(char *pos, const struct itrace_ete_config *config,
		const struct itrace_ete_packet *packet)
{
	switch (packet->kind) {
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_INCOMPLETE:
	case ITRACE_PACKET_RESERVED_CFG:
		pos = PUT(pos, "[");
		pos = put_string(pos, itrace_packet_opencsd_name(packet->intended));
		return PUT(pos, "]");
	case ITRACE_PACKET_TRACE_INFO:
		return put_packet_info(pos, config, packet);
	case ITRACE_PACKET_TIMESTAMP:
		pos = PUT(pos, "; Updated val = 0x");
		pos = put_hex(pos, packet->addr);
		if (packet->flags & ITRACE_PKT_CYCLES) {
			pos = PUT(pos, "; CC=0x");
			pos = put_hex(pos, packet->cycles);
		}
		return pos;
	case ITRACE_PACKET_EXCEPTION:
		return put_packet_exception(pos, config, packet);
	case ITRACE_PACKET_INSTRUMENTATION:
		pos = PUT(pos, "; EL");
		pos = put_dec(pos, packet->info);
		pos = PUT(pos, "; Payload=0x");
		return put_hex(pos, packet->addr);
	case ITRACE_PACKET_CYCLES_F1:
	case ITRACE_PACKET_CYCLES_F2:
	case ITRACE_PACKET_CYCLES_F3:
		pos = PUT(pos, "; Count=0x");
		return put_hex(pos, packet->flags & ITRACE_PKT_CYCLES_UNKNOWN ? 0 : packet->cycles);
	case ITRACE_PACKET_COMMIT:
		pos = PUT(pos, "; Commit(");
		pos = put_dec(pos, packet->number);
		return PUT(pos, ")");
	case ITRACE_PACKET_CANCEL_F1:
		pos = PUT(pos, "; Cancel(");
		pos = put_dec(pos, packet->number);
		return PUT(pos, ")");
	case ITRACE_PACKET_CANCEL_F1_MISPREDICT:
	case ITRACE_PACKET_CANCEL_F2:
	case ITRACE_PACKET_CANCEL_F3:
	case ITRACE_PACKET_MISPREDICT:
		pos = PUT(pos, "; ");
		if (packet->atom_count) {
			pos = PUT(pos, "Atom: ");
			pos = put_atoms(pos, packet->atoms, packet->atom_count);
			pos = PUT(pos, ", ");
		}
		if (packet->kind != ITRACE_PACKET_MISPREDICT) {
			pos = PUT(pos, "Cancel(");
			pos = put_dec(pos, packet->number);
			pos = PUT(pos, "), ");
		}
		return PUT(pos, "Mispredict");
	case ITRACE_PACKET_CONTEXT:
		pos = PUT(pos, "; ");
		return put_packet_context(pos, config, packet);
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS1:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS1:
		pos = put_packet_addr(pos, packet);
		pos = PUT(pos, "; ");
		return put_packet_context(pos, config, packet);
	case ITRACE_PACKET_ADDR_MATCH:
	case ITRACE_PACKET_SOURCE_MATCH:
		pos = PUT(pos, ", ");
		pos = put_packet_match(pos, packet);
		pos = put_packet_addr(pos, packet);
		return PUT(pos, "; ");
	case ITRACE_PACKET_ADDR_SHORT_IS0:
	case ITRACE_PACKET_ADDR_SHORT_IS1:
	case ITRACE_PACKET_SOURCE_SHORT_IS0:
	case ITRACE_PACKET_SOURCE_SHORT_IS1:
		pos = put_packet_addr(pos, packet);
		return put_sent_bits(pos, packet->addr, packet->addr_bits);
	case ITRACE_PACKET_ADDR_32_IS0:
	case ITRACE_PACKET_ADDR_32_IS1:
	case ITRACE_PACKET_ADDR_64_IS0:
	case ITRACE_PACKET_ADDR_64_IS1:
	case ITRACE_PACKET_SOURCE_32_IS0:
	case ITRACE_PACKET_SOURCE_32_IS1:
	case ITRACE_PACKET_SOURCE_64_IS0:
	case ITRACE_PACKET_SOURCE_64_IS1:
		pos = put_packet_addr(pos, packet);
		return PUT(pos, "; ");
	case ITRACE_PACKET_Q:
		if (packet->flags & ITRACE_PKT_COUNT) {
			pos = PUT(pos, "; Count(");
			pos = put_dec(pos, packet->number);
			pos = PUT(pos, ")");
		} else {
			pos = PUT(pos, "; Count(Unknown)");
		}
		if (!(packet->flags & ITRACE_PKT_ADDR))
			return pos;
		if (!packet->addr_bits) {
			pos = PUT(pos, "; ");
			pos = put_packet_match(pos, packet);
			return put_packet_addr(pos, packet);
		}
		pos = put_packet_addr(pos, packet);
		return packet->addr_bits < 64 ? put_sent_bits(pos, packet->addr, packet->addr_bits) : pos;
	case ITRACE_PACKET_ATOM_F1:
	case ITRACE_PACKET_ATOM_F2:
	case ITRACE_PACKET_ATOM_F3:
	case ITRACE_PACKET_ATOM_F4:
	case ITRACE_PACKET_ATOM_F5:
	case ITRACE_PACKET_ATOM_F6:
		pos = PUT(pos, "; ");
		return put_atoms(pos, packet->atoms, packet->atom_count);
	default:
		return pos;
	}
}

static inline char *put_opencsd_head(char *pos, uint64_t off, unsigned int trace_id)
{
	pos = PUT(pos, "Idx:");
	pos = put_dec(pos, off);
	pos = PUT(pos, "; ID:");
	return put_hex(pos, trace_id);
}

size_t itrace_text_packet_opencsd(const struct itrace_ete_config *config, unsigned int trace_id,
		const struct itrace_ete_packet *packet, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = line;
	const char *description = "Unknown Packet Header";

	if (packet->kind < ITRACE_PACKET_NUM)
		description = packet_descriptions[packet->kind];
	pos = put_opencsd_head(pos, packet->off, trace_id);
	pos = PUT(pos, ";\t");
	pos = put_string(pos, itrace_packet_opencsd_name(packet->kind));
	pos = PUT(pos, " : ");
	pos = put_string(pos, description);
	pos = put_packet_details(pos, config, packet);
	return line_finish(line, pos, buf, size);
}

/* Short constant text: copied as a whole, counted by its length. */
struct piece {
	char text[15];
	uint8_t len;
};

#define PIECE(literal)		{ literal, sizeof(literal) - 1 }

static inline char *put_piece(char *pos, const struct piece *piece)
{
	memcpy(pos, piece->text, sizeof(piece->text));
	return pos + piece->len;
}

static const struct piece isa_pieces[16] = {
	[ITRACE_ISA_A64] = PIECE("(ISA=A64) "),
	[ITRACE_ISA_A32] = PIECE("(ISA=A32) "),
	[ITRACE_ISA_T32] = PIECE("(ISA=T32) "),
	[ITRACE_ISA_NUM] = PIECE("(ISA=Unk) ")
};

static const struct piece class_pieces[16] = {
	[ITRACE_INSN_OTHER] = PIECE("--- "),
	[ITRACE_INSN_DIRECT] = PIECE("BR  "),
	[ITRACE_INSN_INDIRECT] = PIECE("iBR "),
	[ITRACE_INSN_ISB] = PIECE("ISB "),
	[ITRACE_INSN_WFX] = PIECE("WFI.WFE"),
	[ITRACE_INSN_TSTART] = PIECE("TSTART"),
	[ITRACE_INSN_UNDESCRIBED] = PIECE("--- "),
	[ITRACE_INSN_CLASS_NUM] = PIECE("--- ")
};

enum {
	SUBCLASS_NONE,
	SUBCLASS_LINK,
	SUBCLASS_RETURN,
	SUBCLASS_ERET,
	SUBCLASS_IMPLIED_RETURN
};

static const struct piece subclass_pieces[] = {
	[SUBCLASS_NONE] = PIECE(""),
	[SUBCLASS_LINK] = PIECE("b+link "),
	[SUBCLASS_RETURN] = PIECE("A64:ret "),
	[SUBCLASS_ERET] = PIECE("A64:eret "),
	[SUBCLASS_IMPLIED_RETURN] = PIECE("V7:impl ret")
};

static unsigned int range_subclass(unsigned int flags, unsigned int isa)
{
	if (flags & ITRACE_INSN_LINK)
		return SUBCLASS_LINK;
	if (flags & ITRACE_INSN_RETURN)
		return SUBCLASS_RETURN;
	if (flags & ITRACE_INSN_ERET && isa == ITRACE_ISA_A64)
		return SUBCLASS_ERET;
	return flags & ITRACE_INSN_IMPLIED_RETURN ? SUBCLASS_IMPLIED_RETURN : SUBCLASS_NONE;
}

static inline char *put_event_range(char *pos, const struct itrace_event *event)
{
	unsigned int isa = event->isa < ITRACE_ISA_NUM ? event->isa : ITRACE_ISA_NUM;
	unsigned int class = event->branch < ITRACE_INSN_CLASS_NUM ? event->branch : ITRACE_INSN_CLASS_NUM;

	pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x");
	pos = put_hex(pos, event->addr);
	pos = PUT(pos, ":[0x");
	pos = put_hex(pos, event->end);
	pos = PUT(pos, "] num_i(");
	pos = put_dec(pos, event->count);
	pos = PUT(pos, ") last_sz(");
	pos = put_dec(pos, event->last_size);
	pos = PUT(pos, ") ");
	pos = put_piece(pos, &isa_pieces[isa]);
	*pos++ = event->flags & ITRACE_EVENT_EXECUTED ? 'E' : 'N';
	*pos++ = ' ';
	pos = put_piece(pos, &class_pieces[class]);
	if (event->flags & (ITRACE_INSN_LINK | ITRACE_INSN_RETURN | ITRACE_INSN_ERET | ITRACE_INSN_IMPLIED_RETURN))
		pos = put_piece(pos, &subclass_pieces[range_subclass(event->flags, isa)]);
	if (event->flags & ITRACE_INSN_COND)
		pos = PUT(pos, " <cond>");
	return PUT(pos, ")");
}

static char *put_event_context(char *pos, const struct itrace_event *event)
{
	unsigned int isa = event->isa < ITRACE_ISA_NUM ? event->isa : ITRACE_ISA_NUM;
	uint32_t info = event->number;

	pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_PE_CONTEXT(");
	pos = put_piece(pos, &isa_pieces[isa]);
	pos = PUT(pos, "EL");
	*pos++ = (char)('0' + (info & ITRACE_CONTEXT_EL_MASK));
	pos = put_string(pos, event_security[context_security(info)]);
	if (info & ITRACE_CONTEXT_SF)
		pos = PUT(pos, "64-bit; ");
	else
		pos = PUT(pos, "32-bit; ");
	if (info & ITRACE_CONTEXT_HAS_VMID) {
		pos = PUT(pos, "VMID=0x");
		pos = put_hex(pos, event->end);
		pos = PUT(pos, "; ");
	}
	if (info & ITRACE_CONTEXT_HAS_CID) {
		pos = PUT(pos, "CTXTID=0x");
		pos = put_hex(pos, event->addr);
		pos = PUT(pos, "; ");
	}
	return PUT(pos, ")");
}

static char *put_event_exception(char *pos, const struct itrace_event *event)
{
	pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_EXCEPTION(");
	if (event->flags & ITRACE_EVENT_HAS_ADDR) {
		pos = PUT(pos, "pref ret addr:0x");
		pos = put_hex(pos, event->addr);
		if (event->flags & ITRACE_EVENT_MATCHES_TARGET)
			pos = PUT(pos, " [addr also prev br tgt]");
		pos = PUT(pos, "; ");
	}
	pos = PUT(pos, "excep num (0x");
	pos = put_hex_width(pos, event->number, 2);
	return PUT(pos, ") )");
}

static const char *space_name(uint64_t space)
{
	switch (space) {
	case ITRACE_SPACE_EL1S:
		return "EL1S";
	case ITRACE_SPACE_EL1N:
		return "EL1N";
	case ITRACE_SPACE_EL2N:
		return "EL2N";
	case ITRACE_SPACE_EL3:
		return "EL3";
	case ITRACE_SPACE_EL2S:
		return "EL2S";
	case ITRACE_SPACE_EL1R:
		return "EL1R";
	case ITRACE_SPACE_EL2R:
		return "EL2R";
	case ITRACE_SPACE_ROOT:
		return "Root";
	case ITRACE_SPACE_S:
		return "Any S";
	case ITRACE_SPACE_N:
		return "Any NS";
	case ITRACE_SPACE_R:
		return "Any R";
	case ITRACE_SPACE_ANY:
		return "Any";
	default:
		return "None";
	}
}

static const char * const trace_on_names[ITRACE_TRACE_ON_NUM] = {
	[ITRACE_TRACE_ON_NORMAL] = "begin or filter",
	[ITRACE_TRACE_ON_OVERFLOW] = "overflow"
};

static const char * const transaction_names[ITRACE_TRANSACTION_NUM] = {
	[ITRACE_TRANSACTION_INIT] = "Init",
	[ITRACE_TRANSACTION_START] = "Start",
	[ITRACE_TRANSACTION_COMMIT] = "Commit",
	[ITRACE_TRANSACTION_FAIL] = "Fail"
};

static const char * const no_sync_names[ITRACE_NO_SYNC_NUM] = {
	[ITRACE_NO_SYNC_INIT] = "init-decoder",
	[ITRACE_NO_SYNC_RESET] = "reset-decoder",
	[ITRACE_NO_SYNC_OVERFLOW] = "overflow",
	[ITRACE_NO_SYNC_DISCARD] = "discard",
	[ITRACE_NO_SYNC_BAD_PACKET] = "bad-packet"
};

static const char * const end_names[ITRACE_END_NUM] = {
	[ITRACE_END_OF_TRACE] = "end-of-trace",
	[ITRACE_END_AFTER_OVERFLOW] = "overflow"
};

/* The entry of a table that an event's cause, or another field of it, selects. */
#define NAME_OF(table, index)	((index) < ARRAY_NUM(table) ? (table)[index] : "unknown")

/* @returns NULL when OpenCSD has no such element */
static char *put_event_other(char *pos, const struct itrace_event *event)
{
	switch (event->kind) {
	case ITRACE_EVENT_RANGE_NO_PATH:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH(first 0x");
		pos = put_hex(pos, event->addr);
		pos = PUT(pos, ":[next 0x");
		pos = put_hex(pos, event->end);
		pos = PUT(pos, "] num_i(");
		pos = put_dec(pos, event->count);
		return PUT(pos, ") )");
	case ITRACE_EVENT_TRACE_ON:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_TRACE_ON( [");
		pos = put_string(pos, NAME_OF(trace_on_names, event->cause));
		return PUT(pos, "])");
	case ITRACE_EVENT_CONTEXT:
		return put_event_context(pos, event);
	case ITRACE_EVENT_EXCEPTION:
		return put_event_exception(pos, event);
	case ITRACE_EVENT_EXCEPTION_RETURN:
		return PUT(pos, "; OCSD_GEN_TRC_ELEM_EXCEPTION_RET()");
	case ITRACE_EVENT_TIMESTAMP:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_TIMESTAMP( [ TS=0x");
		pos = put_hex_width(pos, event->addr, 12);
		pos = PUT(pos, "]; ");
		/* OpenCSD prints a count, 0, where cycle counting is on and the packet has none */
		if (event->flags & (ITRACE_EVENT_HAS_CYCLES | ITRACE_EVENT_UNKNOWN)) {
			pos = PUT(pos, " [CC=");
			pos = put_dec(pos, event->count);
			pos = PUT(pos, "]; ");
		}
		return PUT(pos, ")");
	case ITRACE_EVENT_CYCLES:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_CYCLE_COUNT( [CC=");
		pos = put_dec(pos, event->flags & ITRACE_EVENT_UNKNOWN ? 0 : event->count);
		return PUT(pos, "]; )");
	case ITRACE_EVENT_MARKER:
		return PUT(pos, "; OCSD_GEN_TRC_ELEM_SYNC_MARKER( [Timestamp marker(0x00000000)])");
	case ITRACE_EVENT_TRIGGER:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_EVENT( Numbered:");
		pos = put_dec(pos, event->number);
		return PUT(pos, "; )");
	case ITRACE_EVENT_TRANSACTION:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_MEMTRANS(");
		pos = put_string(pos, NAME_OF(transaction_names, event->cause));
		return PUT(pos, ")");
	case ITRACE_EVENT_INSTRUMENTATION:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_INSTRUMENTATION(EL");
		pos = put_dec(pos, event->number);
		pos = PUT(pos, "; 0x");
		pos = put_hex_width(pos, event->addr, 16);
		return PUT(pos, ")");
	case ITRACE_EVENT_GAP:
		if (event->cause != ITRACE_GAP_NO_MEMORY)
			return NULL;
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_ADDR_NACC( 0x");
		pos = put_hex(pos, event->addr);
		pos = PUT(pos, "; Memspace [0x");
		pos = put_hex(pos, event->end);
		pos = PUT(pos, ":");
		pos = put_string(pos, space_name(event->end));
		return PUT(pos, "] )");
	case ITRACE_EVENT_NO_SYNC:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_NO_SYNC( [");
		pos = put_string(pos, NAME_OF(no_sync_names, event->cause));
		return PUT(pos, "])");
	case ITRACE_EVENT_END:
		pos = PUT(pos, "; OCSD_GEN_TRC_ELEM_EO_TRACE( [");
		pos = put_string(pos, NAME_OF(end_names, event->cause));
		return PUT(pos, "])");
	default:
		return NULL;
	}
}

size_t itrace_text_event_opencsd(unsigned int trace_id, const struct itrace_event *event, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_opencsd_head(line, event->off, trace_id);

	if (event->kind == ITRACE_EVENT_RANGE) {
		pos = put_event_range(pos, event);
	} else {
		pos = put_event_other(pos, event);
		if (!pos)
			pos = line;
	}
	return line_finish(line, pos, buf, size);
}

/* Our own lines */

#define OFF_WIDTH	8u
#define BYTES_WIDTH	18u	/* six bytes; more of them move the text to the right */

static char *put_off(char *pos, uint64_t off)
{
	char digits[20];
	size_t len = (size_t)(put_dec(digits, off) - digits);

	for (size_t width = len; width < OFF_WIDTH; width++)
		*pos++ = ' ';
	pos = put_bytes(pos, digits, len);
	return PUT(pos, "  ");
}

static char *put_addr(char *pos, uint64_t addr)
{
	pos = PUT(pos, "0x");
	return put_hex(pos, addr);
}

static char *put_count(char *pos, uint64_t count, const char *what)
{
	pos = put_dec(pos, count);
	*pos++ = ' ';
	pos = put_string(pos, what);
	if (count != 1)
		*pos++ = 's';
	return pos;
}

static char *put_cycles(char *pos, bool unknown, uint64_t count)
{
	if (unknown)
		return PUT(pos, "unknown");
	return put_count(pos, count, "cycle");
}

static char *put_context(char *pos, uint32_t info, bool has_vmid, uint64_t vmid, bool has_cid, uint64_t cid)
{
	if (info & ITRACE_CONTEXT_SF)
		pos = PUT(pos, "AArch64 EL");
	else
		pos = PUT(pos, "AArch32 EL");
	*pos++ = (char)('0' + (info & ITRACE_CONTEXT_EL_MASK));
	*pos++ = ' ';
	pos = put_string(pos, plain_security[context_security(info)]);
	if (has_vmid) {
		pos = PUT(pos, ", VMID ");
		pos = put_addr(pos, vmid);
	}
	if (has_cid) {
		pos = PUT(pos, ", context ID ");
		pos = put_addr(pos, cid);
	}
	return pos;
}

/* The words behind the name of a packet. */
static char *put_plain_details(char *pos, const struct itrace_ete_config *config,
		const struct itrace_ete_packet *packet)
{
	switch (packet->kind) {
	case ITRACE_PACKET_INCOMPLETE:
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED_CFG:
		pos = PUT(pos, ": ");
		return put_string(pos, itrace_packet_name(packet->intended));
	case ITRACE_PACKET_TRACE_INFO:
		pos = PUT(pos, ": info ");
		pos = put_addr(pos, packet->number);
		pos = PUT(pos, ", cycle threshold ");
		pos = put_dec(pos, packet->cycles);
		if (packet->flags & ITRACE_PKT_SPEC) {
			pos = PUT(pos, ", speculation depth ");
			pos = put_dec(pos, packet->cid);
		}
		return pos;
	case ITRACE_PACKET_TIMESTAMP:
		pos = PUT(pos, ": ");
		pos = put_addr(pos, packet->addr);
		if (packet->flags & ITRACE_PKT_CYCLES) {
			pos = PUT(pos, ", ");
			pos = put_cycles(pos, false, packet->cycles);
		}
		return pos;
	case ITRACE_PACKET_EXCEPTION:
		pos = PUT(pos, ": ");
		pos = put_exception_name(pos, config->profile == ITRACE_PROFILE_M, packet->number);
		pos = PUT(pos, " (");
		pos = put_addr(pos, packet->number);
		pos = PUT(pos, ")");
		if (packet->flags & ITRACE_PKT_MATCHES_TARGET)
			pos = PUT(pos, ", return address is the target before");
		if (packet->flags & ITRACE_PKT_FAULT_PENDING)
			pos = PUT(pos, ", fault pending");
		return pos;
	case ITRACE_PACKET_INSTRUMENTATION:
		pos = PUT(pos, ": EL");
		pos = put_dec(pos, packet->info);
		pos = PUT(pos, " ");
		return put_addr(pos, packet->addr);
	case ITRACE_PACKET_CYCLES_F1:
	case ITRACE_PACKET_CYCLES_F2:
	case ITRACE_PACKET_CYCLES_F3:
		pos = PUT(pos, ": ");
		pos = put_cycles(pos, packet->flags & ITRACE_PKT_CYCLES_UNKNOWN, packet->cycles);
		if (packet->flags & ITRACE_PKT_COMMIT) {
			pos = PUT(pos, ", commit ");
			pos = put_dec(pos, packet->number);
		}
		return pos;
	case ITRACE_PACKET_COMMIT:
	case ITRACE_PACKET_CANCEL_F1:
	case ITRACE_PACKET_CANCEL_F1_MISPREDICT:
	case ITRACE_PACKET_SYNC_NUMBERED:
	case ITRACE_PACKET_SYNC_UNNUMBERED:
		pos = PUT(pos, ": ");
		return put_dec(pos, packet->number);
	case ITRACE_PACKET_CANCEL_F2:
	case ITRACE_PACKET_CANCEL_F3:
	case ITRACE_PACKET_MISPREDICT:
		pos = PUT(pos, ": ");
		if (packet->atom_count) {
			pos = put_atoms(pos, packet->atoms, packet->atom_count);
			pos = PUT(pos, ", ");
		}
		if (packet->kind != ITRACE_PACKET_MISPREDICT) {
			pos = PUT(pos, "cancel ");
			pos = put_dec(pos, packet->number);
			pos = PUT(pos, ", ");
		}
		return PUT(pos, "mispredict");
	case ITRACE_PACKET_EVENT:
		pos = PUT(pos, ": mask ");
		return put_addr(pos, packet->info);
	case ITRACE_PACKET_CONTEXT:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_32_IS1:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS0:
	case ITRACE_PACKET_ADDR_CONTEXT_64_IS1:
		pos = PUT(pos, ": ");
		if (packet->kind != ITRACE_PACKET_CONTEXT) {
			pos = put_addr(pos, packet->addr);
			pos = PUT(pos, ", ");
		}
		if (packet->flags & ITRACE_PKT_CONTEXT_SAME)
			return PUT(pos, "same");
		return put_context(pos, packet->info, packet_has_vmid(config, packet), packet->vmid,
				packet_has_cid(config, packet), packet->cid);
	case ITRACE_PACKET_ADDR_MATCH:
	case ITRACE_PACKET_SOURCE_MATCH:
		pos = PUT(pos, ": entry ");
		pos = put_dec(pos, packet->info);
		pos = PUT(pos, ", ");
		return put_addr(pos, packet->addr);
	case ITRACE_PACKET_ADDR_SHORT_IS0:
	case ITRACE_PACKET_ADDR_SHORT_IS1:
	case ITRACE_PACKET_ADDR_32_IS0:
	case ITRACE_PACKET_ADDR_32_IS1:
	case ITRACE_PACKET_ADDR_64_IS0:
	case ITRACE_PACKET_ADDR_64_IS1:
	case ITRACE_PACKET_SOURCE_SHORT_IS0:
	case ITRACE_PACKET_SOURCE_SHORT_IS1:
	case ITRACE_PACKET_SOURCE_32_IS0:
	case ITRACE_PACKET_SOURCE_32_IS1:
	case ITRACE_PACKET_SOURCE_64_IS0:
	case ITRACE_PACKET_SOURCE_64_IS1:
		pos = PUT(pos, ": ");
		return put_addr(pos, packet->addr);
	case ITRACE_PACKET_Q:
		pos = PUT(pos, ": ");
		if (packet->flags & ITRACE_PKT_COUNT)
			pos = put_count(pos, packet->number, "instruction");
		else
			pos = PUT(pos, "count unknown");
		pos = PUT(pos, ", ");
		if (!(packet->flags & ITRACE_PKT_ADDR))
			return PUT(pos, "address follows");
		if (!packet->addr_bits) {
			pos = PUT(pos, "entry ");
			pos = put_dec(pos, packet->info);
			pos = PUT(pos, ", ");
		}
		return put_addr(pos, packet->addr);
	case ITRACE_PACKET_ATOM_F1:
	case ITRACE_PACKET_ATOM_F2:
	case ITRACE_PACKET_ATOM_F3:
	case ITRACE_PACKET_ATOM_F4:
	case ITRACE_PACKET_ATOM_F5:
	case ITRACE_PACKET_ATOM_F6:
		pos = PUT(pos, ": ");
		return put_atoms(pos, packet->atoms, packet->atom_count);
	default:
		return pos;
	}
}

size_t itrace_text_packet(const struct itrace_ete_config *config, const struct itrace_ete_packet *packet, char *buf,
		size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_off(line, packet->off);
	const char *bytes = pos;

	for (unsigned int i = 0; i < packet->len && i < ITRACE_PACKET_LEN_MAX; i++) {
		pos = put_hex_digits(pos, packet->bytes[i], 2);
		*pos++ = ' ';
	}
	pos = put_pad(pos, bytes, BYTES_WIDTH);
	*pos++ = ' ';
	pos = put_string(pos, itrace_packet_name(packet->kind));
	pos = put_plain_details(pos, config, packet);
	return line_finish(line, pos, buf, size);
}

static char *put_mtb_bytes(char *pos, const struct itrace_mtb_packet *packet)
{
	pos = put_hex_digits(pos, packet->source | (packet->atomic ? 1u : 0u), 8);
	*pos++ = ' ';
	pos = put_hex_digits(pos, packet->destination | (packet->start ? 1u : 0u), 8);
	return PUT(pos, " ");
}

static char *put_mtb_addr(char *pos, uint32_t addr)
{
	pos = PUT(pos, "0x");
	return put_hex_digits(pos, addr, 8);
}

size_t itrace_text_mtb_packet(const struct itrace_mtb_packet *packet, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_off(line, packet->off);

	pos = put_mtb_bytes(pos, packet);
	pos = put_string(pos, itrace_mtb_kind_name((enum itrace_mtb_kind)packet->kind));
	pos = PUT(pos, ": ");
	pos = put_mtb_addr(pos, packet->source);
	pos = PUT(pos, " -> ");
	pos = put_mtb_addr(pos, packet->destination);
	if (packet->atomic)
		pos = PUT(pos, ", A");
	if (packet->start)
		pos = PUT(pos, ", S");
	return line_finish(line, pos, buf, size);
}

/* A return value as the core had it, or an address. */
static char *put_mtb_value(char *pos, uint32_t value)
{
	switch (itrace_mtb_place(value)) {
	case ITRACE_MTB_EXC_RETURN:
		pos = PUT(pos, "EXC_RETURN ");
		return put_mtb_addr(pos, value | 1);
	case ITRACE_MTB_FNC_RETURN:
		pos = PUT(pos, "FNC_RETURN ");
		return put_mtb_addr(pos, value | 1);
	case ITRACE_MTB_LOCKED_UP:
		pos = PUT(pos, "lock-up ");
		return put_mtb_addr(pos, value);
	default:
		return put_mtb_addr(pos, value);
	}
}

size_t itrace_text_mtb_element(const struct itrace_mtb_packet *packet, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_off(line, packet->off);

	if (packet->start)
		pos = PUT(pos, "trace on, ");
	switch (packet->kind) {
	case ITRACE_MTB_RETURN:
		pos = PUT(pos, "return by the instruction at ");
		pos = put_mtb_addr(pos, packet->source);
		pos = PUT(pos, ", ");
		break;
	case ITRACE_MTB_RESUME:
		pos = PUT(pos, "returned by ");
		pos = put_mtb_value(pos, packet->source);
		pos = PUT(pos, ", goes on at ");
		break;
	case ITRACE_MTB_EXCEPTION:
	case ITRACE_MTB_LOCKUP:
		pos = packet->atomic ? PUT(pos, "exception, returns to ") : PUT(pos, "exception by the instruction at ");
		pos = put_mtb_value(pos, packet->source);
		pos = packet->kind == ITRACE_MTB_LOCKUP ? PUT(pos, ", ") : PUT(pos, ", handler ");
		break;
	default:
		pos = PUT(pos, "branch at ");
		pos = put_mtb_addr(pos, packet->source);
		pos = PUT(pos, " to ");
		break;
	}
	pos = put_mtb_value(pos, packet->destination);
	return line_finish(line, pos, buf, size);
}

static const char *isa_name(unsigned int isa)
{
	static const char * const names[ITRACE_ISA_NUM] = {
		[ITRACE_ISA_A64] = "A64",
		[ITRACE_ISA_A32] = "A32",
		[ITRACE_ISA_T32] = "T32"
	};

	return NAME_OF(names, isa);
}

static const char * const plain_trace_on[ITRACE_TRACE_ON_NUM] = {
	[ITRACE_TRACE_ON_NORMAL] = "begin or filter",
	[ITRACE_TRACE_ON_OVERFLOW] = "after overflow"
};

static const char * const plain_transaction[ITRACE_TRANSACTION_NUM] = {
	[ITRACE_TRANSACTION_INIT] = "under way",
	[ITRACE_TRANSACTION_START] = "start",
	[ITRACE_TRANSACTION_COMMIT] = "commit",
	[ITRACE_TRANSACTION_FAIL] = "failure"
};

static const char * const plain_no_sync[ITRACE_NO_SYNC_NUM] = {
	[ITRACE_NO_SYNC_INIT] = "begin",
	[ITRACE_NO_SYNC_RESET] = "further input",
	[ITRACE_NO_SYNC_OVERFLOW] = "overflow",
	[ITRACE_NO_SYNC_DISCARD] = "discard",
	[ITRACE_NO_SYNC_BAD_PACKET] = "error"
};

static const char * const plain_end[ITRACE_END_NUM] = {
	[ITRACE_END_OF_TRACE] = "of trace",
	[ITRACE_END_AFTER_OVERFLOW] = "after overflow"
};

static char *put_element_context(char *pos, const struct itrace_ete_element *element)
{
	return put_context(pos, element->info, element->info & ITRACE_CONTEXT_HAS_VMID, element->vmid,
			element->info & ITRACE_CONTEXT_HAS_CID, element->cid);
}

static char *put_element_addr(char *pos, const struct itrace_ete_element *element)
{
	pos = put_addr(pos, element->addr);
	pos = PUT(pos, " IS");
	return put_dec(pos, element->is);
}

size_t itrace_text_element(const struct itrace_ete_element *element, bool m_profile, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_off(line, element->off);

	pos = put_string(pos, itrace_element_name(element->kind));
	switch (element->kind) {
	case ITRACE_ELEMENT_ATOMS:
		pos = PUT(pos, ": ");
		pos = put_atoms(pos, element->number, element->atom_count);
		break;
	case ITRACE_ELEMENT_EXCEPTION:
		pos = PUT(pos, ": ");
		pos = put_exception_name(pos, m_profile, element->number);
		pos = PUT(pos, " (");
		pos = put_addr(pos, element->number);
		pos = PUT(pos, ")");
		if (element->flags & ITRACE_ELEMENT_HAS_ADDR) {
			pos = PUT(pos, ", return address ");
			pos = put_element_addr(pos, element);
		}
		if (element->flags & ITRACE_ELEMENT_MATCHES_TARGET)
			pos = PUT(pos, ", which is the target before");
		if (element->flags & ITRACE_ELEMENT_FAULT_PENDING)
			pos = PUT(pos, ", fault pending");
		if (element->flags & ITRACE_ELEMENT_HAS_CONTEXT) {
			pos = PUT(pos, ", ");
			pos = put_element_context(pos, element);
		}
		break;
	case ITRACE_ELEMENT_Q:
		pos = PUT(pos, ": ");
		if (element->flags & ITRACE_ELEMENT_HAS_COUNT)
			pos = put_count(pos, element->number, "instruction");
		else
			pos = PUT(pos, "count unknown");
		if (element->flags & ITRACE_ELEMENT_HAS_ADDR) {
			pos = PUT(pos, ", ");
			pos = put_element_addr(pos, element);
		}
		if (element->flags & ITRACE_ELEMENT_HAS_CONTEXT) {
			pos = PUT(pos, ", ");
			pos = put_element_context(pos, element);
		}
		break;
	case ITRACE_ELEMENT_SOURCE_ADDR:
	case ITRACE_ELEMENT_ADDR:
		pos = PUT(pos, ": ");
		pos = put_element_addr(pos, element);
		break;
	case ITRACE_ELEMENT_CONTEXT:
		pos = PUT(pos, ": ");
		if (element->flags & ITRACE_ELEMENT_SAME)
			pos = PUT(pos, "same");
		else
			pos = put_element_context(pos, element);
		break;
	case ITRACE_ELEMENT_EVENT:
		pos = PUT(pos, ": mask ");
		pos = put_addr(pos, element->number);
		break;
	case ITRACE_ELEMENT_TIMESTAMP:
		pos = PUT(pos, ": ");
		pos = put_addr(pos, element->addr);
		if (element->flags & ITRACE_ELEMENT_HAS_COUNT) {
			pos = PUT(pos, ", ");
			pos = put_cycles(pos, false, element->number);
		}
		break;
	case ITRACE_ELEMENT_CYCLES:
		pos = PUT(pos, ": ");
		pos = put_cycles(pos, element->flags & ITRACE_ELEMENT_UNKNOWN, element->number);
		break;
	case ITRACE_ELEMENT_INSTRUMENTATION:
		pos = PUT(pos, ": EL");
		pos = put_dec(pos, element->info);
		pos = PUT(pos, " ");
		pos = put_addr(pos, element->addr);
		break;
	case ITRACE_ELEMENT_NO_SYNC:
		pos = PUT(pos, ": ");
		pos = put_string(pos, NAME_OF(plain_no_sync, element->info));
		break;
	case ITRACE_ELEMENT_GAP:
		pos = PUT(pos, ": ");
		pos = put_string(pos, itrace_gap_name(element->info));
		break;
	default:
		break;
	}
	return line_finish(line, pos, buf, size);
}

/* How the last instruction of a range ended it. */
static char *put_range_end(char *pos, const struct itrace_event *event)
{
	bool executed = event->flags & ITRACE_EVENT_EXECUTED;
	const char *what;

	switch (event->branch) {
	case ITRACE_INSN_DIRECT:
	case ITRACE_INSN_INDIRECT:
		if (event->flags & ITRACE_INSN_COND)
			pos = PUT(pos, "conditional ");
		if (event->branch == ITRACE_INSN_INDIRECT &&
				!(event->flags & (ITRACE_INSN_RETURN | ITRACE_INSN_ERET | ITRACE_INSN_IMPLIED_RETURN)))
			pos = PUT(pos, "indirect ");
		if (event->flags & ITRACE_INSN_ERET)
			what = "exception return";
		else if (event->flags & (ITRACE_INSN_RETURN | ITRACE_INSN_IMPLIED_RETURN))
			what = "return";
		else
			what = event->flags & ITRACE_INSN_LINK ? "call" : "branch";
		pos = put_string(pos, what);
		return executed ? PUT(pos, " taken") : PUT(pos, " not taken");
	case ITRACE_INSN_ISB:
		return PUT(pos, "instruction barrier");
	case ITRACE_INSN_WFX:
		return executed ? PUT(pos, "wait") : PUT(pos, "wait not executed");
	case ITRACE_INSN_TSTART:
		return PUT(pos, "transaction start");
	case ITRACE_INSN_UNDESCRIBED:
		return PUT(pos, "branch that no source describes");
	default:
		return PUT(pos, "no branch");
	}
}

static char *put_plain_gap(char *pos, const struct itrace_event *event)
{
	pos = PUT(pos, "gap: ");
	pos = put_string(pos, itrace_gap_name(event->cause));
	if (event->flags & ITRACE_EVENT_HAS_ADDR || event->cause == ITRACE_GAP_NO_MEMORY) {
		pos = PUT(pos, " at ");
		pos = put_addr(pos, event->addr);
	}
	if (event->cause == ITRACE_GAP_NO_MEMORY) {
		pos = PUT(pos, " (");
		pos = put_count(pos, event->count, "byte");
		pos = PUT(pos, " wanted in space ");
		pos = put_string(pos, space_name(event->end));
		pos = PUT(pos, ")");
	} else if (event->cause == ITRACE_GAP_BAD_PACKET) {
		pos = PUT(pos, " ");
		pos = put_addr(pos, event->number);
	} else if (itrace_gap_is_contradiction(event->cause)) {
		pos = PUT(pos, ": to ");
		pos = put_addr(pos, event->end);
		pos = PUT(pos, " by the trace, ");
		if (event->number) {
			pos = PUT(pos, "to ");
			pos = put_addr(pos, event->number);
		} else {
			pos = PUT(pos, "nowhere");
		}
		pos = PUT(pos, " by the program");
	}
	return pos;
}

size_t itrace_text_event(const struct itrace_event *event, bool m_profile, char *buf, size_t size)
{
	char small[LINE_MAX];
	char *line = size >= LINE_MAX ? buf : small;
	char *pos = put_off(line, event->off);

	switch (event->kind) {
	case ITRACE_EVENT_RANGE:
		pos = PUT(pos, "range ");
		pos = put_addr(pos, event->addr);
		pos = PUT(pos, " .. ");
		pos = put_addr(pos, event->end);
		pos = PUT(pos, ": ");
		pos = put_dec(pos, event->count);
		pos = PUT(pos, " ");
		pos = put_string(pos, isa_name(event->isa));
		pos = PUT(pos, ", ");
		pos = put_range_end(pos, event);
		break;
	case ITRACE_EVENT_RANGE_NO_PATH:
		pos = PUT(pos, "range ");
		pos = put_addr(pos, event->addr);
		pos = PUT(pos, " .. ");
		pos = put_addr(pos, event->end);
		pos = PUT(pos, ": ");
		if (event->count)
			pos = put_dec(pos, event->count);
		else
			pos = PUT(pos, "?");
		pos = PUT(pos, " by an unknown path");
		break;
	case ITRACE_EVENT_TRACE_ON:
		pos = PUT(pos, "trace on: ");
		pos = put_string(pos, NAME_OF(plain_trace_on, event->cause));
		break;
	case ITRACE_EVENT_CONTEXT:
		pos = PUT(pos, "context: ");
		pos = put_context(pos, event->number, event->number & ITRACE_CONTEXT_HAS_VMID, event->end,
				event->number & ITRACE_CONTEXT_HAS_CID, event->addr);
		break;
	case ITRACE_EVENT_EXCEPTION:
		pos = PUT(pos, "exception: ");
		if (event->flags & ITRACE_EVENT_UNKNOWN && !event->number) {
			pos = PUT(pos, "not known which");
		} else {
			pos = put_exception_name(pos, m_profile, event->number);
			pos = PUT(pos, " (");
			pos = put_addr(pos, event->number);
			pos = PUT(pos, ")");
			if (event->flags & ITRACE_EVENT_UNKNOWN)
				pos = PUT(pos, " or another with this handler");
		}
		if (event->flags & ITRACE_EVENT_HAS_ADDR) {
			pos = PUT(pos, ", return address ");
			pos = put_addr(pos, event->addr);
		}
		if (event->flags & ITRACE_EVENT_MATCHES_TARGET)
			pos = PUT(pos, ", which is the target before");
		if (event->flags & ITRACE_EVENT_FAULT_PENDING)
			pos = PUT(pos, ", fault pending");
		break;
	case ITRACE_EVENT_EXCEPTION_RETURN:
		pos = PUT(pos, "exception return");
		if (event->number) {
			pos = PUT(pos, ", EXC_RETURN ");
			pos = put_addr(pos, event->number);
		}
		break;
	case ITRACE_EVENT_TIMESTAMP:
		pos = PUT(pos, "timestamp: ");
		pos = put_addr(pos, event->addr);
		if (event->flags & ITRACE_EVENT_HAS_CYCLES) {
			pos = PUT(pos, ", ");
			pos = put_cycles(pos, false, event->count);
		}
		break;
	case ITRACE_EVENT_CYCLES:
		pos = PUT(pos, "cycle count: ");
		pos = put_cycles(pos, event->flags & ITRACE_EVENT_UNKNOWN, event->count);
		break;
	case ITRACE_EVENT_MARKER:
		pos = PUT(pos, "timestamp marker");
		break;
	case ITRACE_EVENT_TRIGGER:
		pos = PUT(pos, "event: mask ");
		pos = put_addr(pos, event->number);
		break;
	case ITRACE_EVENT_TRANSACTION:
		pos = PUT(pos, "transaction: ");
		pos = put_string(pos, NAME_OF(plain_transaction, event->cause));
		break;
	case ITRACE_EVENT_INSTRUMENTATION:
		pos = PUT(pos, "instrumentation: EL");
		pos = put_dec(pos, event->number);
		pos = PUT(pos, " ");
		pos = put_addr(pos, event->addr);
		break;
	case ITRACE_EVENT_SEAM:
		pos = PUT(pos, "seam");
		if (event->flags & ITRACE_EVENT_HAS_ADDR) {
			pos = PUT(pos, ": the core stood at ");
			pos = put_addr(pos, event->addr);
		}
		break;
	case ITRACE_EVENT_GAP:
		pos = put_plain_gap(pos, event);
		break;
	case ITRACE_EVENT_NO_SYNC:
		pos = PUT(pos, "not synchronised: ");
		pos = put_string(pos, NAME_OF(plain_no_sync, event->cause));
		break;
	case ITRACE_EVENT_END:
		pos = PUT(pos, "end ");
		pos = put_string(pos, NAME_OF(plain_end, event->cause));
		break;
	default:
		pos = PUT(pos, "unknown");
		break;
	}
	return line_finish(line, pos, buf, size);
}

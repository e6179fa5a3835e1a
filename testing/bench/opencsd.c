// SPDX-License-Identifier: GPL-2.0-or-later

/*
 * The other side: OpenCSD by its C API, memory from buffers, callbacks that count.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <opencsd/c_api/opencsd_c_api.h>

#include "bench.h"

struct bench_opencsd {
	dcd_tree_handle_t tree;
	struct bench_count *count;
	bool check;
};

static const ocsd_arch_version_t opencsd_arch[ITRACE_ARCH_NUM] = {
	[ITRACE_ARCH_V7] = ARCH_V7,
	[ITRACE_ARCH_V8] = ARCH_V8,
	[ITRACE_ARCH_V8_3] = ARCH_V8r3,
	[ITRACE_ARCH_V9] = ARCH_AA64,
};

static const ocsd_core_profile_t opencsd_profile[ITRACE_PROFILE_NUM] = {
	[ITRACE_PROFILE_A] = profile_CortexA,
	[ITRACE_PROFILE_R] = profile_CortexR,
	[ITRACE_PROFILE_M] = profile_CortexM,
};

static ocsd_datapath_resp_t opencsd_element(const void *context, const ocsd_trc_index_t index, const uint8_t id,
		const ocsd_generic_trace_elem *element)
{
	const struct bench_opencsd *opencsd = context;
	struct bench_count *count = opencsd->count;
	(void)index;
	(void)id;

	switch (element->elem_type) {
	case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
		count->range_count++;
		count->instruction_count += element->num_instr_range;
		if (opencsd->check)
			bench_hash_range(&count->hash, element->st_addr, element->en_addr, element->num_instr_range,
				element->last_instr_exec);
		break;
	case OCSD_GEN_TRC_ELEM_EXCEPTION:
	case OCSD_GEN_TRC_ELEM_EXCEPTION_RET:
	case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
	case OCSD_GEN_TRC_ELEM_TRACE_ON:
		if (opencsd->check)
			count->exception_count++;
		break;
	default:
		break;
	}
	return OCSD_RESP_CONT;
}

static void opencsd_packet_hash(uint64_t *hash, const ocsd_etmv4_i_pkt *packet, uint64_t off)
{
	bench_hash(hash, off);
	switch (packet->type) {
	case ETM4_PKT_I_ADDR_MATCH:
	case ETM4_PKT_I_ADDR_S_IS0:
	case ETM4_PKT_I_ADDR_S_IS1:
	case ETM4_PKT_I_ADDR_L_32IS0:
	case ETM4_PKT_I_ADDR_L_32IS1:
	case ETM4_PKT_I_ADDR_L_64IS0:
	case ETM4_PKT_I_ADDR_L_64IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_32IS1:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS0:
	case ETM4_PKT_I_ADDR_CTXT_L_64IS1:
		bench_hash(hash, packet->v_addr.val);
		break;
	case ETM4_PKT_I_ATOM_F1:
	case ETM4_PKT_I_ATOM_F2:
	case ETM4_PKT_I_ATOM_F3:
	case ETM4_PKT_I_ATOM_F4:
	case ETM4_PKT_I_ATOM_F5:
	case ETM4_PKT_I_ATOM_F6:
		bench_hash(hash, (uint64_t)packet->atom.num << 32 | (packet->atom.En_bits & ((1u << packet->atom.num) - 1)));
		break;
	default:
		break;
	}
}

static ocsd_datapath_resp_t opencsd_packet(const void *context, const ocsd_datapath_op_t op,
		const ocsd_trc_index_t index, const void *packet)
{
	const struct bench_opencsd *opencsd = context;
	if (op != OCSD_OP_DATA)
		return OCSD_RESP_CONT;
	opencsd->count->packet_count++;
	if (opencsd->check)
		opencsd_packet_hash(&opencsd->count->hash, packet, index);
	return OCSD_RESP_CONT;
}

static void opencsd_try(ocsd_err_t error, const char *what)
{
	if (error != OCSD_OK)
		bench_fail("OpenCSD: %s: error %d", what, (int)error);
}

struct bench_opencsd *bench_opencsd_new(const struct bench_program *program, bool packets_only)
{
	struct bench_opencsd *opencsd = bench_alloc(sizeof(*opencsd));
	ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
	opencsd->tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
	if (opencsd->tree == C_API_INVALID_TREE_HANDLE)
		bench_fail("OpenCSD: no decode tree");

	const struct itrace_ete_registers *regs = &program->regs;
	const ocsd_ete_cfg ete = {
		.reg_idr0 = regs->trcidr0,
		.reg_idr1 = regs->trcidr1,
		.reg_idr2 = regs->trcidr2,
		.reg_idr8 = regs->trcidr8,
		.reg_devarch = regs->trcdevarch,
		.reg_configr = regs->trcconfigr,
		.reg_traceidr = regs->trctraceidr,
		.arch_ver = opencsd_arch[program->arch],
		.core_prof = opencsd_profile[program->profile],
	};
	const ocsd_etmv4_cfg etmv4 = {
		.reg_idr0 = regs->trcidr0,
		.reg_idr1 = regs->trcidr1,
		.reg_idr2 = regs->trcidr2,
		.reg_idr8 = regs->trcidr8,
		.reg_configr = regs->trcconfigr,
		.reg_traceidr = regs->trctraceidr,
		.arch_ver = opencsd_arch[program->arch],
		.core_prof = opencsd_profile[program->profile],
	};
	bool is_ete = program->protocol == ITRACE_PROTOCOL_ETE;
	unsigned char id = 0;
	opencsd_try(ocsd_dt_create_decoder(opencsd->tree, is_ete ? OCSD_BUILTIN_DCD_ETE : OCSD_BUILTIN_DCD_ETMV4I,
			packets_only ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER,
			is_ete ? (const void *)&ete : (const void *)&etmv4, &id), "create a decoder");
	if (packets_only) {
		void *callback;
		FnDefPktDataIn function = opencsd_packet;
		memcpy(&callback, &function, sizeof(callback));
		opencsd_try(ocsd_dt_attach_packet_callback(opencsd->tree, id, OCSD_C_API_CB_PKT_SINK, callback, opencsd),
			"attach a packet callback");
		return opencsd;
	}

	opencsd_try(ocsd_dt_set_gen_elem_outfn(opencsd->tree, opencsd_element, opencsd), "set the element callback");
	for (size_t i = 0; i < program->segment_count; i++) {
		const struct itrace_segment *segment = &program->segments[i];
		opencsd_try(ocsd_dt_add_buffer_mem_acc(opencsd->tree, segment->addr, OCSD_MEM_SPACE_ANY, segment->data,
				(uint32_t)segment->len), "add a memory buffer");
	}
	return opencsd;
}

void bench_opencsd_delete(struct bench_opencsd *opencsd)
{
	ocsd_destroy_dcd_tree(opencsd->tree);
	free(opencsd);
}

void bench_opencsd_decode(struct bench_opencsd *opencsd, const uint8_t *bytes, size_t len, unsigned int copies,
		bool check, struct bench_count *count)
{
	memset(count, 0, sizeof(*count));
	opencsd->count = count;
	opencsd->check = check;

	uint32_t done;
	uint64_t off = 0;
	for (unsigned int i = 0; i < copies; i++) {
		for (size_t pos = 0; pos < len; pos += done) {
			size_t left = len - pos;
			ocsd_datapath_resp_t answer = ocsd_dt_process_data(opencsd->tree, OCSD_OP_DATA, off + pos,
					left < BENCH_CHUNK_LEN ? (uint32_t)left : BENCH_CHUNK_LEN, bytes + pos, &done);
			if (OCSD_DATA_RESP_IS_FATAL(answer) || !done)
				bench_fail("OpenCSD: stopped at byte %zu of %zu with answer %d", pos, len, (int)answer);
		}
		off += len;
	}
	ocsd_dt_process_data(opencsd->tree, OCSD_OP_EOT, 0, 0, NULL, &done);
	ocsd_dt_process_data(opencsd->tree, OCSD_OP_RESET, 0, 0, NULL, &done);
}

const char *bench_opencsd_version(void)
{
	return ocsd_get_version_str();
}

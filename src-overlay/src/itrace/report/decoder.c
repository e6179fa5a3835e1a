// SPDX-License-Identifier: GPL-2.0-or-later

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text.h"
#include "decoder.h"

#define BATCH	64u

static bool init_mtb(struct itrace_decoder *decoder, const struct itrace_decoder_setup *setup)
{
	if (!setup->has_flow)
		return true;
	decoder->blocks = malloc(setup->block_count * sizeof(*decoder->blocks));
	if (!decoder->blocks)
		return false;
	itrace_mtb_flow_init(&decoder->mtb, setup->mtb, &decoder->image, decoder->blocks, setup->block_count,
			&decoder->ledger);
	if (setup->is_further)
		itrace_mtb_flow_reset(&decoder->mtb, setup->mtb, ITRACE_NO_SYNC_RESET);
	return true;
}

static bool init_core(struct itrace_decoder *decoder, const struct itrace_decoder_setup *setup)
{
	/* bytes and packets are counted once: by the flow when there is one */
	struct itrace_ledger *tap_ledger = setup->has_flow ? NULL : &decoder->ledger;

	itrace_image_init(&decoder->image, setup->segments, setup->segment_count, setup->read, setup->read_ctx);
	itrace_ledger_init(&decoder->ledger);
	if (decoder->is_mtb)
		return init_mtb(decoder, setup);
	if (setup->tap == ITRACE_TAP_ELEMENTS) {
		itrace_ete_elements_init(&decoder->elements, &decoder->config, tap_ledger);
		if (setup->is_further)
			itrace_ete_elements_reset(&decoder->elements, ITRACE_NO_SYNC_RESET);
	} else if (setup->tap != ITRACE_TAP_NONE) {
		itrace_ete_stream_init(&decoder->stream, &decoder->config, tap_ledger);
	}
	if (!setup->has_flow)
		return true;

	decoder->blocks = malloc(setup->block_count * sizeof(*decoder->blocks));
	if (!decoder->blocks)
		return false;
	itrace_ete_flow_init(&decoder->flow, &decoder->config, &decoder->image, decoder->blocks, setup->block_count,
			&decoder->ledger);
	decoder->flow.split_at_n = setup->split_at_n;
	if (setup->is_further)
		itrace_ete_flow_reset(&decoder->flow, ITRACE_NO_SYNC_RESET);
	return true;
}

struct itrace_decoder *itrace_decoder_new(const struct itrace_decoder_setup *setup, char *why, size_t why_size)
{
	struct itrace_decoder *decoder = calloc(1, sizeof(*decoder));
	const char *reason = "";

	if (!decoder) {
		free(setup->segments);
		snprintf(why, why_size, "no memory for a decoder");
		return NULL;
	}
	decoder->segments = setup->segments;
	decoder->tap = setup->tap;
	decoder->out = setup->out;
	decoder->packet_id = setup->packet_id;
	decoder->has_flow = setup->has_flow;
	decoder->batch = setup->one_by_one ? 1 : BATCH;
	decoder->emit = setup->emit;
	decoder->ctx = setup->ctx;
	decoder->is_mtb = setup->protocol == ITRACE_PROTOCOL_MTB;
	if (decoder->is_mtb) {
		decoder->config.protocol = setup->protocol;
		decoder->config.profile = ITRACE_PROFILE_M;
		decoder->config.arch = setup->arch;
		decoder->config.rules.m_profile = true;
	} else if (itrace_ete_config_init(&decoder->config, setup->protocol, setup->profile, setup->arch, &setup->regs,
			&reason) != ITRACE_OK) {
		snprintf(why, why_size, "registers: %s", reason);
		itrace_decoder_free(decoder);
		return NULL;
	}
	if (!init_core(decoder, setup)) {
		snprintf(why, why_size, "no memory for a decoder");
		itrace_decoder_free(decoder);
		return NULL;
	}
	return decoder;
}

void itrace_decoder_free(struct itrace_decoder *decoder)
{
	if (!decoder)
		return;
	free(decoder->segments);
	free(decoder->blocks);
	free(decoder);
}

/* What was not listed of a stretch that is not synchronised. */
static void end_unsynced(struct itrace_decoder *decoder)
{
	decoder->unsynced = false;
	if (decoder->unsynced_len)
		itrace_output_format(decoder->out, "%8" PRIu64 "  ... %" PRIu64 " more bytes not synchronised\n",
				decoder->unsynced_off, decoder->unsynced_len);
	decoder->unsynced_len = 0;
}

/*
 * Megabytes that are not synchronised are worth one line. OpenCSD lists the first 8 such bytes of a trace, and only
 * those.
 * @returns whether the packet is to be listed
 */
static bool list_unsynced(struct itrace_decoder *decoder, const struct itrace_ete_packet *packet)
{
	bool first = decoder->tap == ITRACE_TAP_OPENCSD_PACKETS ? !decoder->unsynced_listed : !decoder->unsynced;

	decoder->unsynced = true;
	decoder->unsynced_listed = true;
	if (!first && decoder->tap == ITRACE_TAP_PACKETS) {
		if (!decoder->unsynced_len)
			decoder->unsynced_off = packet->off;
		decoder->unsynced_len += packet->len;
	}
	return first;
}

static void write_packet(struct itrace_decoder *decoder, const struct itrace_ete_packet *packet)
{
	if (packet->kind == ITRACE_PACKET_NOT_SYNC) {
		if (!list_unsynced(decoder, packet))
			return;
	} else if (decoder->unsynced) {
		end_unsynced(decoder);
	}

	char *room = itrace_output_room(decoder->out, ITRACE_TEXT_MAX + 1);
	size_t len;
	if (decoder->tap == ITRACE_TAP_OPENCSD_PACKETS)
		len = itrace_text_packet_opencsd(&decoder->config, decoder->packet_id, packet, room, ITRACE_TEXT_MAX);
	else
		len = itrace_text_packet(&decoder->config, packet, room, ITRACE_TEXT_MAX);
	if (!len)
		return;
	room[len] = '\n';
	itrace_output_took(decoder->out, len + 1);
}

/* Without a flow nobody else counts what is missing. */
static void count_gap(struct itrace_decoder *decoder, enum itrace_gap gap, uint64_t off)
{
	struct itrace_event event;

	if (decoder->has_flow)
		return;
	memset(&event, 0, sizeof(event));
	event.off = off;
	event.tag = itrace_event_tag(ITRACE_EVENT_GAP, 0, gap);
	itrace_ledger_count(&decoder->ledger, &event, 1);
}

static void count_packet(struct itrace_decoder *decoder, const struct itrace_ete_packet *packet)
{
	switch (packet->kind) {
	case ITRACE_PACKET_BAD_SEQUENCE:
	case ITRACE_PACKET_RESERVED:
	case ITRACE_PACKET_RESERVED_CFG:
		count_gap(decoder, ITRACE_GAP_BAD_PACKET, packet->off);
		break;
	case ITRACE_PACKET_OVERFLOW:
		count_gap(decoder, ITRACE_GAP_OVERFLOW, packet->off);
		break;
	case ITRACE_PACKET_DISCARD:
		count_gap(decoder, ITRACE_GAP_DISCARD, packet->off);
		break;
	default:
		break;
	}
}

static void drain_packets(struct itrace_decoder *decoder)
{
	struct itrace_ete_packet packets[BATCH];
	unsigned int n;

	while (!itrace_output_stopped(decoder->out) &&
			(n = itrace_ete_stream_next(&decoder->stream, packets, BATCH)) != 0)
		for (unsigned int i = 0; i < n; i++) {
			write_packet(decoder, &packets[i]);
			count_packet(decoder, &packets[i]);
		}
}

static bool is_said(const struct itrace_ete_element *element)
{
	return element->kind != ITRACE_ELEMENT_NO_SYNC && element->kind != ITRACE_ELEMENT_END &&
			element->kind != ITRACE_ELEMENT_GAP;
}

static void drain_elements(struct itrace_decoder *decoder)
{
	bool m_profile = decoder->config.profile == ITRACE_PROFILE_M;
	struct itrace_ete_element element;

	while (!itrace_output_stopped(decoder->out) && itrace_ete_elements_next(&decoder->elements, &element)) {
		char *room = itrace_output_room(decoder->out, ITRACE_TEXT_MAX + 1);
		size_t len = itrace_text_element(&element, m_profile, room, ITRACE_TEXT_MAX);
		if (element.kind == ITRACE_ELEMENT_GAP)
			count_gap(decoder, (enum itrace_gap)element.info, element.off);
		if (!len)
			continue;
		decoder->element_count += is_said(&element);
		room[len] = '\n';
		itrace_output_took(decoder->out, len + 1);
	}
}

static void write_mtb_packet(struct itrace_decoder *decoder, const struct itrace_mtb_packet *packet)
{
	char *room = itrace_output_room(decoder->out, ITRACE_TEXT_MAX + 1);
	size_t len;

	if (decoder->tap == ITRACE_TAP_ELEMENTS) {
		len = itrace_text_mtb_element(packet, room, ITRACE_TEXT_MAX);
		decoder->element_count++;
	} else {
		len = itrace_text_mtb_packet(packet, room, ITRACE_TEXT_MAX);
	}
	room[len] = '\n';
	itrace_output_took(decoder->out, len + 1);
	if (decoder->has_flow)
		return;
	decoder->ledger.decoded_len += ITRACE_MTB_PACKET_LEN;
	decoder->ledger.packet_count[ITRACE_LEDGER_MTB + packet->kind]++;
	decoder->ledger.packet_len[ITRACE_LEDGER_MTB + packet->kind] += ITRACE_MTB_PACKET_LEN;
}

/* The tap of an MTB: packets have no state. */
static void tap_mtb(struct itrace_decoder *decoder, uint64_t off, const uint8_t *bytes, size_t len)
{
	if (!decoder->has_flow)
		decoder->ledger.trace_len += len;
	for (size_t i = 0; i < len && !itrace_output_stopped(decoder->out); i++) {
		if (!decoder->held_len)
			decoder->held_off = off + i;
		decoder->held[decoder->held_len++] = bytes[i];
		struct itrace_mtb_packet packet;
		if (itrace_mtb_packet_read(decoder->held, decoder->held_len, &packet) < 0)
			continue;
		packet.off = decoder->held_off;
		decoder->held_len = 0;
		write_mtb_packet(decoder, &packet);
	}
	if (itrace_output_stopped(decoder->out))
		decoder->stopped = true;
}

static unsigned int next_events(struct itrace_decoder *decoder, struct itrace_event *events)
{
	if (decoder->is_mtb)
		return itrace_mtb_flow_next(&decoder->mtb, events, decoder->batch);
	return itrace_ete_flow_next(&decoder->flow, events, decoder->batch);
}

static void drain_flow(struct itrace_decoder *decoder)
{
	struct itrace_event events[BATCH];
	unsigned int n;

	while (!decoder->stopped && (n = next_events(decoder, events)) != 0)
		if (!decoder->emit(decoder->ctx, decoder, events, n))
			decoder->stopped = true;
}

static void finish_mtb(struct itrace_decoder *decoder)
{
	if (decoder->has_flow) {
		itrace_mtb_flow_finish(&decoder->mtb);
		drain_flow(decoder);
		return;
	}
	decoder->ledger.partial_len += decoder->held_len;
	decoder->ledger.unsynced_len += decoder->held_len;
	decoder->held_len = 0;
}

static void drain(struct itrace_decoder *decoder)
{
	if (decoder->tap == ITRACE_TAP_ELEMENTS)
		drain_elements(decoder);
	else if (decoder->tap != ITRACE_TAP_NONE)
		drain_packets(decoder);
	if (decoder->tap != ITRACE_TAP_NONE && itrace_output_stopped(decoder->out))
		decoder->stopped = true;
	if (decoder->has_flow)
		drain_flow(decoder);
}

void itrace_decoder_feed(struct itrace_decoder *decoder, uint64_t off, const uint8_t *bytes, size_t len)
{
	if (decoder->stopped)
		return;
	if (decoder->is_mtb) {
		if (decoder->tap != ITRACE_TAP_NONE)
			tap_mtb(decoder, off, bytes, len);
		if (decoder->has_flow)
			itrace_mtb_flow_feed(&decoder->mtb, off, bytes, len);
		if (decoder->has_flow)
			drain_flow(decoder);
		return;
	}
	if (decoder->tap == ITRACE_TAP_ELEMENTS)
		itrace_ete_elements_feed(&decoder->elements, off, bytes, len);
	else if (decoder->tap != ITRACE_TAP_NONE)
		itrace_ete_stream_feed(&decoder->stream, off, bytes, len);
	if (decoder->has_flow)
		itrace_ete_flow_feed(&decoder->flow, off, bytes, len);
	drain(decoder);
}

void itrace_decoder_break(struct itrace_decoder *decoder, enum itrace_gap gap, uint64_t off)
{
	struct itrace_event event;

	if (decoder->stopped)
		return;
	memset(&event, 0, sizeof(event));
	event.off = off;
	event.tag = itrace_event_tag(ITRACE_EVENT_GAP, 0, gap);
	itrace_ledger_count(&decoder->ledger, &event, 1);
	if (decoder->tap == ITRACE_TAP_ELEMENTS)
		itrace_ete_elements_reset(&decoder->elements, ITRACE_NO_SYNC_BAD_PACKET);
	else if (decoder->tap != ITRACE_TAP_NONE)
		itrace_ete_stream_reset(&decoder->stream);
	if (decoder->has_flow) {
		if (!decoder->emit(decoder->ctx, decoder, &event, 1))
			decoder->stopped = true;
		itrace_ete_flow_reset(&decoder->flow, ITRACE_NO_SYNC_BAD_PACKET);
	}
}

void itrace_decoder_finish(struct itrace_decoder *decoder)
{
	if (decoder->stopped)
		return;
	if (decoder->is_mtb) {
		finish_mtb(decoder);
		return;
	}
	if (decoder->tap == ITRACE_TAP_ELEMENTS)
		itrace_ete_elements_finish(&decoder->elements);
	else if (decoder->tap != ITRACE_TAP_NONE)
		itrace_ete_stream_finish(&decoder->stream);
	if (decoder->has_flow)
		itrace_ete_flow_finish(&decoder->flow);
	drain(decoder);
	if (decoder->unsynced)
		end_unsynced(decoder);
}

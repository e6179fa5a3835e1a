@ SPDX-License-Identifier: GPL-2.0-or-later
@ T32 waypoints and their neighbours. testing/unit/waypoints/make reads the comments and writes t32.inc.

	.syntax	unified

	.thumb
first:
	nop                                     @ other

@ B, BL, BLX
	b.n first                               @ direct -> first
	b.n .                                   @ direct -> .+0
	.set	near_1, near_1_from + 4 + (2)
near_1_from:
	b.n near_1                              @ direct -> near_1
	.set	near_2, near_2_from + 4 + (2046)
near_2_from:
	b.n near_2                              @ direct -> near_2
	.set	near_3, near_3_from + 4 + (-2048)
near_3_from:
	b.n near_3                              @ direct -> near_3
	b.w first                               @ direct -> first
	bl first                                @ direct link -> first
	b.w last                                @ direct -> last
	bl last                                 @ direct link -> last
	b.w .                                   @ direct -> .+0
	bl .                                    @ direct link -> .+0
	b.w .+4                                 @ direct -> .+4
	bl .+4                                  @ direct link -> .+4
	b.w .+6                                 @ direct -> .+6
	bl .+6                                  @ direct link -> .+6
	b.w .+4+16777214                        @ direct -> .+0x1000002
	bl .+4+16777214                         @ direct link -> .+0x1000002
	b.w .+4-16777216                        @ direct -> .-0xfffffc
	bl .+4-16777216                         @ direct link -> .-0xfffffc
	b.w .+4+0x3ffffe                        @ direct -> .+0x400002
	bl .+4+0x3ffffe                         @ direct link -> .+0x400002
	b.w .+4+0x400000                        @ direct -> .+0x400004
	bl .+4+0x400000                         @ direct link -> .+0x400004
	b.w .+4+0x800000                        @ direct -> .+0x800004
	bl .+4+0x800000                         @ direct link -> .+0x800004
	b.w .+4-0x400002                        @ direct -> .-0x3ffffe
	bl .+4-0x400002                         @ direct link -> .-0x3ffffe
	b.w .+4-0x800002                        @ direct -> .-0x7ffffe
	bl .+4-0x800002                         @ direct link -> .-0x7ffffe
	.balign	4
	.extern	below	@ at 0x3f010100
	.extern	below_8m	@ at 0x3f7f0000
	.extern	above_8m	@ at 0x40830000
	blx below                               @ direct link -> below to a32, needs not-m
	blx below_8m                            @ direct link -> below_8m to a32, needs not-m
	blx above_8m                            @ direct link -> above_8m to a32, needs not-m
	nop                                     @ other
	blx below                               @ direct link -> below to a32, needs not-m
	blx below_8m                            @ direct link -> below_8m to a32, needs not-m
	blx above_8m                            @ direct link -> above_8m to a32, needs not-m
	.set	far_up, half_way - 2 + 4 + 16777212
half_way:
	blx far_up                              @ direct link -> far_up to a32, needs not-m
	blx first                               @ direct link -> first to a32, needs not-m
	blx aligned                             @ direct link -> aligned to a32, needs not-m
	nop                                     @ other
	blx aligned                             @ direct link -> aligned to a32, needs not-m

@ B<c>
	.set	near_4, near_4_from + 4 + (-256)
near_4_from:
	beq.n near_4                            @ direct cond -> near_4
	.set	near_5, near_5_from + 4 + (254)
near_5_from:
	bne.n near_5                            @ direct cond -> near_5
	.set	near_6, near_6_from + 4 + (0)
near_6_from:
	bhs.n near_6                            @ direct cond -> near_6
	.set	near_7, near_7_from + 4 + (-4)
near_7_from:
	blo.n near_7                            @ direct cond -> near_7
	.set	near_8, near_8_from + 4 + (2)
near_8_from:
	bmi.n near_8                            @ direct cond -> near_8
	.set	near_9, near_9_from + 4 + (-2)
near_9_from:
	bpl.n near_9                            @ direct cond -> near_9
	.set	near_10, near_10_from + 4 + (-256)
near_10_from:
	bvs.n near_10                           @ direct cond -> near_10
	.set	near_11, near_11_from + 4 + (254)
near_11_from:
	bvc.n near_11                           @ direct cond -> near_11
	.set	near_12, near_12_from + 4 + (0)
near_12_from:
	bhi.n near_12                           @ direct cond -> near_12
	.set	near_13, near_13_from + 4 + (-4)
near_13_from:
	bls.n near_13                           @ direct cond -> near_13
	.set	near_14, near_14_from + 4 + (2)
near_14_from:
	bge.n near_14                           @ direct cond -> near_14
	.set	near_15, near_15_from + 4 + (-2)
near_15_from:
	blt.n near_15                           @ direct cond -> near_15
	.set	near_16, near_16_from + 4 + (-256)
near_16_from:
	bgt.n near_16                           @ direct cond -> near_16
	.set	near_17, near_17_from + 4 + (254)
near_17_from:
	ble.n near_17                           @ direct cond -> near_17
	.set	near_18, near_18_from + 4 + (-1048576)
near_18_from:
	beq.w near_18                           @ direct cond -> near_18
	.set	near_19, near_19_from + 4 + (1048574)
near_19_from:
	bne.w near_19                           @ direct cond -> near_19
	.set	near_20, near_20_from + 4 + (0)
near_20_from:
	bhs.w near_20                           @ direct cond -> near_20
	.set	near_21, near_21_from + 4 + (-4)
near_21_from:
	blo.w near_21                           @ direct cond -> near_21
	.set	near_22, near_22_from + 4 + (2)
near_22_from:
	bmi.w near_22                           @ direct cond -> near_22
	.set	near_23, near_23_from + 4 + (-2)
near_23_from:
	bpl.w near_23                           @ direct cond -> near_23
	.set	near_24, near_24_from + 4 + (262142)
near_24_from:
	bvs.w near_24                           @ direct cond -> near_24
	.set	near_25, near_25_from + 4 + (262144)
near_25_from:
	bvc.w near_25                           @ direct cond -> near_25
	.set	near_26, near_26_from + 4 + (-262146)
near_26_from:
	bhi.w near_26                           @ direct cond -> near_26
	.set	near_27, near_27_from + 4 + (524288)
near_27_from:
	bls.w near_27                           @ direct cond -> near_27
	.set	near_28, near_28_from + 4 + (-524290)
near_28_from:
	bge.w near_28                           @ direct cond -> near_28
	.set	near_29, near_29_from + 4 + (-1048576)
near_29_from:
	blt.w near_29                           @ direct cond -> near_29
	.set	near_30, near_30_from + 4 + (1048574)
near_30_from:
	bgt.w near_30                           @ direct cond -> near_30
	.set	near_31, near_31_from + 4 + (0)
near_31_from:
	ble.w near_31                           @ direct cond -> near_31

@ CBZ, CBNZ
	.set	near_32, near_32_from + 4 + (0)
near_32_from:
	cbz r0, near_32                         @ direct cond -> near_32
	.set	near_33, near_33_from + 4 + (126)
near_33_from:
	cbz r7, near_33                         @ direct cond -> near_33
	.set	near_34, near_34_from + 4 + (64)
near_34_from:
	cbz r3, near_34                         @ direct cond -> near_34
	.set	near_35, near_35_from + 4 + (62)
near_35_from:
	cbz r4, near_35                         @ direct cond -> near_35
	.set	near_36, near_36_from + 4 + (2)
near_36_from:
	cbz r5, near_36                         @ direct cond -> near_36
	.set	near_37, near_37_from + 4 + (0)
near_37_from:
	cbnz r0, near_37                        @ direct cond -> near_37
	.set	near_38, near_38_from + 4 + (126)
near_38_from:
	cbnz r7, near_38                        @ direct cond -> near_38
	.set	near_39, near_39_from + 4 + (64)
near_39_from:
	cbnz r3, near_39                        @ direct cond -> near_39
	.set	near_40, near_40_from + 4 + (62)
near_40_from:
	cbnz r4, near_40                        @ direct cond -> near_40
	.set	near_41, near_41_from + 4 + (2)
near_41_from:
	cbnz r5, near_41                        @ direct cond -> near_41

@ to a register
	bx r0                                   @ indirect
	blx r0                                  @ indirect link
	mov pc, r0                              @ indirect
	add pc, r0                              @ indirect
	bx r7                                   @ indirect
	blx r7                                  @ indirect link
	mov pc, r7                              @ indirect
	add pc, r7                              @ indirect
	bx r8                                   @ indirect
	blx r8                                  @ indirect link
	mov pc, r8                              @ indirect
	add pc, r8                              @ indirect
	bx r12                                  @ indirect
	blx r12                                 @ indirect link
	mov pc, r12                             @ indirect
	add pc, r12                             @ indirect
	bx sp                                   @ indirect
	blx sp                                  @ indirect link
	mov pc, sp                              @ indirect
	add pc, sp                              @ indirect
	bx lr                                   @ indirect implied-return
	blx lr                                  @ indirect link
	mov pc, lr                              @ indirect implied-return
	add pc, lr                              @ indirect
	bx pc                                   @ indirect
	mov pc, pc                              @ indirect
	bxj r0                                  @ indirect, needs not-m
	bxj r12                                 @ indirect, needs not-m
	mov lr, pc                              @ other
	mov r8, pc                              @ other
	add lr, pc                              @ other
	add r8, lr                              @ other
	cmp pc, lr                              @ other
	cmp r8, r1                              @ other
	mov r7, lr                              @ other
	movs r0, r1                             @ other
	add r15, r15                            @ indirect

@ loads
	pop {pc}                                @ indirect implied-return
	pop {r0, pc}                            @ indirect implied-return
	pop {r0-r7, pc}                         @ indirect implied-return
	pop.w {r8, pc}                          @ indirect implied-return
	pop.w {r4-r11, pc}                      @ indirect implied-return
	ldm.w sp!, {r0, r12, pc}                @ indirect implied-return
	ldr pc, [sp], #4                        @ indirect implied-return
	ldr pc, [sp], #255                      @ indirect implied-return
	ldr pc, [sp], #-4                       @ indirect
	ldr pc, [sp, #4]!                       @ indirect
	ldr pc, [sp, #-4]!                      @ indirect
	ldr.w pc, [sp]                          @ indirect
	ldr.w pc, [sp, #8]                      @ indirect
	ldr.w pc, [r0, #0xfff]                  @ indirect
	ldr pc, [r0, #-4]                       @ indirect
	ldr pc, [r0, #-255]                     @ indirect
	ldr pc, [r1], #8                        @ indirect
	ldr pc, [r1], #-8                       @ indirect
	ldr pc, [r1, #12]!                      @ indirect
	ldr pc, [r1, #-12]!                     @ indirect
	ldr.w pc, [r1, r2]                      @ indirect
	ldr.w pc, [r1, r2, lsl #3]              @ indirect
	ldr.w pc, [pc, #4]                      @ indirect
	ldr.w pc, [pc, #-4]                     @ indirect
	ldr.w pc, [pc, #-0x7ff]                 @ indirect
	ldr.w pc, [pc, #-0x201]                 @ indirect
	ldr.w pc, [pc, #0xfff]                  @ indirect
	ldm.w r0, {r1, pc}                      @ indirect
	ldm.w r0!, {r1, pc}                     @ indirect
	ldmdb r0, {r1, pc}                      @ indirect
	ldmdb r0!, {r1, r2, pc}                 @ indirect
	ldmdb sp!, {r4, pc}                     @ indirect
	ldm.w sp, {r4, pc}                      @ indirect
	tbb [pc, r0]                            @ indirect
	tbb [r1, r2]                            @ indirect
	tbh [pc, r0, lsl #1]                    @ indirect
	tbh [r1, lr, lsl #1]                    @ indirect
	pop {r0, r7}                            @ other
	pop.w {r8, lr}                          @ other
	push {r4, lr}                           @ other
	push.w {r8, lr}                         @ other
	ldm r0!, {r1, r2}                       @ other
	ldm.w r0!, {r1, lr}                     @ other
	stm.w r0, {r1, lr}                      @ other
	ldmdb r0!, {r1, lr}                     @ other
	ldr r0, [pc, #4]                        @ other
	ldr.w lr, [sp], #4                      @ other
	str.w lr, [sp, #-4]!                    @ other
	ldrt lr, [r0, #4]                       @ other
	ldrb.w lr, [r0]                         @ other
	ldrh.w lr, [r0]                         @ other
	ldrsb lr, [r0]                          @ other
	pld [r0, #4]                            @ other
	pld [r1, r2]                            @ other
	pli [pc, #4]                            @ other
	pldw [r0]                               @ other
	ldrd r0, lr, [r1]                       @ other
	ldrd r0, r1, [r2, #8]!                  @ other
	strd r12, lr, [r1], #-8                 @ other
	ldrex lr, [r0]                          @ other
	ldrexb lr, [r0]                         @ other
	ldrexd r0, lr, [r1]                     @ other
	strexh r0, r1, [r2]                     @ other
	lda lr, [r0]                            @ other
	ldaex lr, [r0]                          @ other
	stlexd r0, r1, r2, [r3]                 @ other

@ LDRT and undefined forms with PC; byte and halfword loads there are hints
	.inst.w 0xf850fe04                      @ other
	.inst.w 0xf850f804                      @ other
	.inst.w 0xf850fa04                      @ other
	.inst.w 0xf850f040                      @ other
	.inst.w 0xf850f400                      @ other
	.inst.w 0xf830f004                      @ other
	.inst.w 0xf8b0f004                      @ other
	.inst.w 0xf890f004                      @ other
	.inst.w 0xf8c0f004                      @ other
	.inst.w 0xf840f004                      @ other
	.inst.w 0xf910f004                      @ other

@ exception returns
	rfedb r0                                @ indirect, needs not-m
	rfedb r0!                               @ indirect, needs not-m
	rfeia sp                                @ indirect, needs not-m
	rfeia sp!                               @ indirect, needs not-m
	subs pc, lr, #4                         @ indirect, needs not-m
	subs pc, lr, #255                       @ indirect, needs not-m
	eret                                    @ indirect, needs not-m
	srsdb sp!, #19                          @ other
	srsia sp, #18                           @ other

@ ISB and other barriers
	isb                                     @ isb
	isb sy                                  @ isb
	isb #0                                  @ isb
	isb #7                                  @ isb
	mcr p15, 0, r0, c7, c5, 4               @ isb, needs not-m
	mcr p15, 0, r12, c7, c5, 4              @ isb, needs not-m
	dsb sy                                  @ other
	dsb ish                                 @ other
	dsb #0                                  @ other
	dmb sy                                  @ other
	dmb ishst                               @ other
	sb                                      @ other
	ssbb                                    @ other
	pssbb                                   @ other
	clrex                                   @ other
	mcr p15, 0, r0, c7, c10, 4              @ other
	mcr p15, 0, r0, c7, c10, 5              @ other
	mcr p15, 0, r0, c7, c5, 6               @ other
	mrc p15, 0, r0, c7, c5, 4               @ other
	mcr p14, 0, r0, c7, c5, 4               @ other
	mcr p15, 1, r0, c7, c5, 4               @ other
	mrc p14, 0, apsr_nzcv, c0, c1, 0        @ other
	vmrs apsr_nzcv, fpscr                   @ other

@ waits and other hints
	wfe                                     @ wfx, needs wfx
	wfi                                     @ wfx, needs wfx
	wfe.w                                   @ wfx, needs wfx
	wfi.w                                   @ wfx, needs wfx
	nop                                     @ other
	yield                                   @ other
	sev                                     @ other
	sevl                                    @ other
	nop.w                                   @ other
	yield.w                                 @ other
	sev.w                                   @ other
	esb                                     @ other
	csdb                                    @ other
	dbg #3                                  @ other
	hint #6                                 @ other
	hint #12                                @ other
	hint.w #6                               @ other
	tsb csync                               @ other
	cpsid i                                 @ other
	cpsie.w if, #19                         @ other
	cps #16                                 @ other
	setend be                               @ other

@ IT: the walker makes what follows conditional; AL leaves it as it is
1:
	it eq                                   @ other it 1
	moveq r0, r1                            @ other
	itt ne                                  @ other it 2
	movne r0, r1                            @ other
	movne r0, r1                            @ other
	ite hs                                  @ other it 2
	movhs r0, r1                            @ other
	movlo r0, r1                            @ other
	ittt mi                                 @ other it 3
	movmi r0, r1                            @ other
	movmi r0, r1                            @ other
	movmi r0, r1                            @ other
	itte vs                                 @ other it 3
	movvs r0, r1                            @ other
	movvs r0, r1                            @ other
	movvc r0, r1                            @ other
	itet hi                                 @ other it 3
	movhi r0, r1                            @ other
	movls r0, r1                            @ other
	movhi r0, r1                            @ other
	itee ge                                 @ other it 3
	movge r0, r1                            @ other
	movlt r0, r1                            @ other
	movlt r0, r1                            @ other
	itttt le                                @ other it 4
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	ittte le                                @ other it 4
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	ittet le                                @ other it 4
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movle r0, r1                            @ other
	ittee le                                @ other it 4
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movgt r0, r1                            @ other
	itett le                                @ other it 4
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movle r0, r1                            @ other
	movle r0, r1                            @ other
	itete le                                @ other it 4
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	iteet le                                @ other it 4
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movgt r0, r1                            @ other
	movle r0, r1                            @ other
	iteee le                                @ other it 4
	movle r0, r1                            @ other
	movgt r0, r1                            @ other
	movgt r0, r1                            @ other
	movgt r0, r1                            @ other
	it hs                                   @ other it 1
	movhs r0, r1                            @ other
	itt hs                                  @ other it 2
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	ittt hs                                 @ other it 3
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	itttt hs                                @ other it 4
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	movhs r0, r1                            @ other
	itttt lo                                @ other it 4
	movlo r0, r1                            @ other
	movlo r0, r1                            @ other
	movlo r0, r1                            @ other
	movlo r0, r1                            @ other
	it al                                   @ other
	mov r0, r1                              @ other
	it eq                                   @ other it 1
	bxeq lr                                 @ indirect implied-return
	itt ne                                  @ other it 2
	movne r0, r1                            @ other
	bne.w last                              @ direct -> last
	it gt                                   @ other it 1
	popgt {r4, pc}                          @ indirect implied-return
	it lo                                   @ other it 1
	bllo first                              @ direct link -> first

@ exceptions and the rest
	svc #0                                  @ other
	svc #255                                @ other
	bkpt #3                                 @ other
	hlt #3                                  @ other
	udf #1                                  @ other
	udf.w #1                                @ other
	hvc #1                                  @ other
	smc #1                                  @ other
	dcps1                                   @ other
	dcps3                                   @ other
	mrs lr, apsr                            @ other
	msr apsr_nzcvq, lr                      @ other
	mrs r0, spsr                            @ other
	add.w lr, r0, r1                        @ other
	movw lr, #0xffff                        @ other
	movt lr, #1                             @ other
	mov.w lr, r0                            @ other
	subs.w lr, lr, #4                       @ other
	cmp.w lr, #0                            @ other
	cmn.w r0, r1                            @ other
	tst.w r0, #1                            @ other
	teq r0, r1                              @ other
	adr r0, last                            @ other
	adr.w r0, first                         @ other
	mul lr, r0, r1                          @ other
	smmla r0, r1, r2, r3                    @ other
	smmul r0, r1, r2                        @ other
	sdiv lr, r0, r1                         @ other
	umull r0, lr, r1, r2                    @ other
	sxth.w lr, r0                           @ other
	clz lr, r0                              @ other
	bfi lr, r0, #1, #2                      @ other
	ssat lr, #4, r0                         @ other
	revsh r0, r1                            @ other
	sub sp, #8                              @ other
	add sp, #8                              @ other
	uxtb r0, r1                             @ other
	vadd.i32 q0, q1, q2                     @ other
	vldr d0, [pc, #4]                       @ other
	crc32w r0, r1, r2                       @ other

@ Armv8.1-M
	.cpu	cortex-m85
	bxns r0                                 @ indirect
	blxns r0                                @ indirect link
	bxns r7                                 @ indirect
	blxns r7                                @ indirect link
	bxns r12                                @ indirect
	blxns r12                               @ indirect link
	bxns lr                                 @ indirect implied-return
	blxns lr                                @ indirect link
	bxaut r12, lr, sp                       @ indirect implied-return, needs m
	bxaut r0, r1, r2                        @ indirect, needs m
	bxaut r3, lr, r4                        @ indirect implied-return, needs m
	bxaut lr, r12, r11                      @ indirect, needs m
	aut r12, lr, sp                         @ other
	pac r12, lr, sp                         @ other
	pacbti r12, lr, sp                      @ other
	bti                                     @ other
	autg r0, r1, r2                         @ other
	pacg r0, r1, r2                         @ other
	clrm {r0, apsr}                         @ other
	clrm {r0-r12, lr, apsr}                 @ other
	clrm {apsr}                             @ other
	clrm {r1, lr}                           @ other
	vscclrm {s0-s3, vpr}                    @ other
	sg                                      @ other
	tt r0, r1                               @ other
	ttat r0, r1                             @ other
	msr control, r0                         @ other
	mrs r0, primask                         @ other
	ldr.w lr, [r0]                          @ other
loop:
	nop                                     @ other
	wls lr, r0, skip                        @ direct cond -> skip
	wls lr, r12, skip                       @ direct cond -> skip
	wls lr, lr, skip                        @ direct cond -> skip
	wlstp.8 lr, r1, skip                    @ direct cond -> skip
	wlstp.16 lr, r2, skip                   @ direct cond -> skip
	wlstp.32 lr, r4, skip                   @ direct cond -> skip
	wlstp.64 lr, r8, skip                   @ direct cond -> skip
	.set	wls_far, wls_from + 4 + 4094
wls_from:
	wls lr, r1, wls_far                     @ direct cond -> wls_far
	.set	wlstp_far, wlstp_from + 4 + 4094
wlstp_from:
	wlstp.8 lr, r1, wlstp_far               @ direct cond -> wlstp_far
skip:
	le lr, loop                             @ direct cond -> loop
	le lr, skip                             @ direct cond -> skip
	le loop                                 @ direct -> loop
	le skip                                 @ direct -> skip
	letp lr, loop                           @ direct cond -> loop
	letp lr, skip                           @ direct cond -> skip
	.space	4058
late:
	le lr, skip                             @ direct cond -> skip
	le skip                                 @ direct -> skip
	letp lr, skip                           @ direct cond -> skip
	dls lr, r0                              @ other
	dls lr, r12                             @ other
	dlstp.8 lr, r0                          @ other
	dlstp.16 lr, r1                         @ other
	dlstp.32 lr, r2                         @ other
	dlstp.64 lr, lr                         @ other
	lctp                                    @ other
	.inst.w 0xf03fc009                      @ other
	.inst.w 0xf050c001                      @ other
	.inst.w 0xf07fc801                      @ other
	.inst.w 0xf00fe003                      @ other
	.inst.w 0xf060e801                      @ other
	.inst.w 0xf0f0e003                      @ other
	.set	le_far, le_from + 4 - 4094
le_from:
	le lr, le_far                           @ direct cond -> le_far
	.set	le_ever, le_ever_from + 4 - 4094
le_ever_from:
	le le_ever                              @ direct -> le_ever
bf_first:
	bf bf_1, last                           @ undescribed, needs m
	bf bf_far, first                        @ undescribed, needs m
	bfx bf_1, r3                            @ undescribed, needs m
	bfx bf_1, lr                            @ undescribed, needs m
	.set	bf_far, bf_first + 4 + 4 + 30
	nop                                     @ other
bf_1:
	b.n last                                @ direct -> last
	bfl bf_2, last                          @ undescribed, needs m
	bfl bf_2, first                         @ undescribed, needs m
	bflx bf_2, r0                           @ undescribed, needs m
	bflx bf_2, r12                          @ undescribed, needs m
	nop                                     @ other
bf_2:
	bl last                                 @ direct link -> last
	bfcsel bf_3, bf_end, bf_4, eq           @ undescribed, needs m
	bfcsel bf_3, last, bf_4, le             @ undescribed, needs m
	nop                                     @ other
bf_3:
	beq.w bf_end                            @ direct cond -> bf_end
bf_4:
	nop                                     @ other
bf_end:
	nop                                     @ other
	.balign	4
aligned:
last:
	nop                                     @ other

@ SPDX-License-Identifier: GPL-2.0-or-later
@ A32 waypoints and their neighbours. testing/unit/waypoints/make reads the comments and writes a32.inc.

	.syntax	unified
first:
	nop                                     @ other

@ B, BL, BLX
	b first                                 @ direct -> first
	bl first                                @ direct link -> first
	b last                                  @ direct -> last
	bl last                                 @ direct link -> last
	b .                                     @ direct -> .+0
	bl .                                    @ direct link -> .+0
	b .+4                                   @ direct -> .+4
	bl .+4                                  @ direct link -> .+4
	b .-4                                   @ direct -> .-4
	bl .-4                                  @ direct link -> .-4
	b .+8+0x1fffffc                         @ direct -> .+0x2000004
	bl .+8+0x1fffffc                        @ direct link -> .+0x2000004
	b .+8-0x2000000                         @ direct -> .-0x1fffff8
	bl .+8-0x2000000                        @ direct link -> .-0x1fffff8
	beq first                               @ direct cond -> first
	bleq first                              @ direct link cond -> first
	bne last                                @ direct cond -> last
	blne last                               @ direct link cond -> last
	bhs first                               @ direct cond -> first
	blhs first                              @ direct link cond -> first
	blo last                                @ direct cond -> last
	bllo last                               @ direct link cond -> last
	bmi first                               @ direct cond -> first
	blmi first                              @ direct link cond -> first
	bpl last                                @ direct cond -> last
	blpl last                               @ direct link cond -> last
	bvs first                               @ direct cond -> first
	blvs first                              @ direct link cond -> first
	bvc last                                @ direct cond -> last
	blvc last                               @ direct link cond -> last
	bhi first                               @ direct cond -> first
	blhi first                              @ direct link cond -> first
	bls last                                @ direct cond -> last
	blls last                               @ direct link cond -> last
	bge first                               @ direct cond -> first
	blge first                              @ direct link cond -> first
	blt last                                @ direct cond -> last
	bllt last                               @ direct link cond -> last
	bgt first                               @ direct cond -> first
	blgt first                              @ direct link cond -> first
	ble last                                @ direct cond -> last
	blle last                               @ direct link cond -> last
here:
	.set	far_up, here + 12 + 0x1fffffc
	.set	far_up_half, here + 16 + 0x1fffffe
	.set	first_half, first + 2
	.set	last_half, last + 2
	blx .+8-0x2000000                       @ direct link -> .-0x1fffff8 to t32
	blx far_up                              @ direct link -> far_up to t32
	blx far_up_half                         @ direct link -> far_up_half to t32
	blx first                               @ direct link -> first to t32
	blx first_half                          @ direct link -> first_half to t32
	blx last                                @ direct link -> last to t32
	blx last_half                           @ direct link -> last_half to t32

@ to a register
	bx r0                                   @ indirect
	bxeq r0                                 @ indirect cond
	blx r0                                  @ indirect link
	blxne r0                                @ indirect link cond
	bxj r0                                  @ indirect
	bxjge r0                                @ indirect cond
	bx r12                                  @ indirect
	bxeq r12                                @ indirect cond
	blx r12                                 @ indirect link
	blxne r12                               @ indirect link cond
	bxj r12                                 @ indirect
	bxjge r12                               @ indirect cond
	bx lr                                   @ indirect implied-return
	bxeq lr                                 @ indirect implied-return cond
	blx lr                                  @ indirect link
	blxne lr                                @ indirect link cond
	bxj lr                                  @ indirect
	bxjge lr                                @ indirect cond
	bx pc                                   @ indirect
	bx sp                                   @ indirect

@ data processing with destination PC
	mov pc, lr                              @ indirect implied-return
	moveq pc, lr                            @ indirect implied-return cond
	mov pc, r0                              @ indirect
	movne pc, r12                           @ indirect cond
	movs pc, lr                             @ indirect
	movseq pc, lr                           @ indirect cond
	movs pc, r3                             @ indirect
	mov pc, #0                              @ indirect
	movs pc, #0x40                          @ indirect
	mvn pc, #15                             @ indirect
	mvns pc, r1                             @ indirect
	lsl pc, lr, #2                          @ indirect
	lsrs pc, r1, #32                        @ indirect
	asr pc, r1, #1                          @ indirect
	ror pc, r1, #4                          @ indirect
	rrx pc, lr                              @ indirect
	and pc, r1, r2                          @ indirect
	andls pc, pc, r3, lsl #2                @ indirect cond
	and pc, lr, #4                          @ indirect
	ands pc, r1, r2                         @ indirect
	andsls pc, pc, r3, lsl #2               @ indirect cond
	ands pc, lr, #4                         @ indirect
	eor pc, r1, r2                          @ indirect
	eorls pc, pc, r3, lsl #2                @ indirect cond
	eor pc, lr, #4                          @ indirect
	eors pc, r1, r2                         @ indirect
	eorsls pc, pc, r3, lsl #2               @ indirect cond
	eors pc, lr, #4                         @ indirect
	sub pc, r1, r2                          @ indirect
	subls pc, pc, r3, lsl #2                @ indirect cond
	sub pc, lr, #4                          @ indirect
	subs pc, r1, r2                         @ indirect
	subsls pc, pc, r3, lsl #2               @ indirect cond
	subs pc, lr, #4                         @ indirect
	rsb pc, r1, r2                          @ indirect
	rsbls pc, pc, r3, lsl #2                @ indirect cond
	rsb pc, lr, #4                          @ indirect
	rsbs pc, r1, r2                         @ indirect
	rsbsls pc, pc, r3, lsl #2               @ indirect cond
	rsbs pc, lr, #4                         @ indirect
	add pc, r1, r2                          @ indirect
	addls pc, pc, r3, lsl #2                @ indirect cond
	add pc, lr, #4                          @ indirect
	adds pc, r1, r2                         @ indirect
	addsls pc, pc, r3, lsl #2               @ indirect cond
	adds pc, lr, #4                         @ indirect
	adc pc, r1, r2                          @ indirect
	adcls pc, pc, r3, lsl #2                @ indirect cond
	adc pc, lr, #4                          @ indirect
	adcs pc, r1, r2                         @ indirect
	adcsls pc, pc, r3, lsl #2               @ indirect cond
	adcs pc, lr, #4                         @ indirect
	sbc pc, r1, r2                          @ indirect
	sbcls pc, pc, r3, lsl #2                @ indirect cond
	sbc pc, lr, #4                          @ indirect
	sbcs pc, r1, r2                         @ indirect
	sbcsls pc, pc, r3, lsl #2               @ indirect cond
	sbcs pc, lr, #4                         @ indirect
	rsc pc, r1, r2                          @ indirect
	rscls pc, pc, r3, lsl #2                @ indirect cond
	rsc pc, lr, #4                          @ indirect
	rscs pc, r1, r2                         @ indirect
	rscsls pc, pc, r3, lsl #2               @ indirect cond
	rscs pc, lr, #4                         @ indirect
	orr pc, r1, r2                          @ indirect
	orrls pc, pc, r3, lsl #2                @ indirect cond
	orr pc, lr, #4                          @ indirect
	orrs pc, r1, r2                         @ indirect
	orrsls pc, pc, r3, lsl #2               @ indirect cond
	orrs pc, lr, #4                         @ indirect
	bic pc, r1, r2                          @ indirect
	bicls pc, pc, r3, lsl #2                @ indirect cond
	bic pc, lr, #4                          @ indirect
	bics pc, r1, r2                         @ indirect
	bicsls pc, pc, r3, lsl #2               @ indirect cond
	bics pc, lr, #4                         @ indirect
	addls pc, pc, r0, lsl #2                @ indirect cond
	ldrls pc, [pc, r0, lsl #2]              @ indirect cond
	subs pc, lr, #4                         @ indirect
	add pc, pc, #8                          @ indirect
	eret                                    @ indirect
	ereteq                                  @ indirect cond

@ data processing that writes no PC
	mov r14, pc                             @ other
	add r0, pc, #4                          @ other
	adds r14, pc, r1                        @ other
	movs r0, r15                            @ other
	mvn lr, pc                              @ other
	movw r12, #0xffff                       @ other
	movt r14, #1                            @ other
	cmp pc, #4                              @ other
	cmn r15, r1                             @ other
	tst pc, #1                              @ other
	teq r1, pc                              @ other
	tst r1, r2, lsl #3                      @ other
	cmp r1, r2, lsr r3                      @ other
	mov r1, r2, lsl r3                      @ other
	add r14, r1, r2, ror r3                 @ other
	moveq r0, r1                            @ other cond
	addle r14, r14, #1                      @ other cond
	nopne                                   @ other cond

@ compare with ones in the place of the destination, register-shifted register to PC: not branches
	.inst 0xe15ff001                        @ other
	.inst 0xe31ff001                        @ other
	.inst 0xe33ff001                        @ other
	.inst 0xe35ff001                        @ other
	.inst 0xe37ff001                        @ other
	.inst 0xe11ff002                        @ other
	.inst 0xe13ff002                        @ other
	.inst 0xe1a0f211                        @ other
	.inst 0xe1b0f231                        @ other
	.inst 0xe082f351                        @ other
	.inst 0xe3c1f001                        @ indirect
	.inst 0x0150f001                        @ other cond

@ multiplies, halfword loads and stores, exclusives with PC in bits 15:12
	.inst 0xe020f291                        @ other
	.inst 0xe0c1f392                        @ other
	.inst 0xe08ff392                        @ other
	.inst 0xe1d0f0b0                        @ other
	.inst 0xe1c0f0b0                        @ other
	.inst 0xe1b0f0b2                        @ other
	.inst 0xe1a0f0b2                        @ other
	.inst 0xe1d0f0d0                        @ other
	.inst 0xe1f0f0f4                        @ other
	.inst 0xe190ff9f                        @ other
	.inst 0xe180ff91                        @ other
	.inst 0xe1a0ff90                        @ other
	.inst 0xe1b0ff9f                        @ other
	.inst 0xe1e0ff91                        @ other
	.inst 0xe100f382                        @ other
	.inst 0xe120f382                        @ other
	.inst 0xe160f382                        @ other
	.inst 0xe140f382                        @ other
	.inst 0xe100f092                        @ other
	.inst 0xe014f0b2                        @ other
	.inst 0xe1a0f09e                        @ other

@ loads
	ldr pc, [sp], #4                        @ indirect implied-return
	ldreq pc, [sp], #4                      @ indirect implied-return cond
	ldr pc, [sp], #8                        @ indirect implied-return
	ldr pc, [sp], #-4                       @ indirect
	ldr pc, [sp, #4]                        @ indirect
	ldr pc, [sp, #4]!                       @ indirect
	ldr pc, [r0]                            @ indirect
	ldr pc, [r3, #-0xfff]                   @ indirect
	ldr pc, [r3, #0xfff]!                   @ indirect
	ldr pc, [r1], #4                        @ indirect
	ldr pc, last                            @ indirect
	ldrne pc, [pc, #-4]                     @ indirect cond
	ldr pc, [r1, r2]                        @ indirect
	ldr pc, [r1, -r2, lsl #2]!              @ indirect
	ldr pc, [r1], r2                        @ indirect
	ldrhi pc, [pc, r2, lsl #2]              @ indirect cond
	ldr pc, [sp], r2                        @ indirect
	ldr lr, [sp], #4                        @ other
	ldr r0, [pc]                            @ other
	str pc, [r0]                            @ other
	ldrb r14, [pc, #3]                      @ other
	strb r1, [r2], #1                       @ other
	ldrt r14, [r0]                          @ other
	ldr r14, [pc, r2]                       @ other
	str pc, [sp, #-4]!                      @ other
	ldrd r12, r13, [r0]                     @ other
	ldrh r14, [r1]                          @ other
	ldrsb r14, [r1]                         @ other
	ldrex r14, [r1]                         @ other
	pld [pc, #4]                            @ other
	pld [r1, r2]                            @ other
	pli [r2]                                @ other
	clrex                                   @ other
	ldrt pc, [r0]                           @ other
	.inst 0xe5d0f004                        @ other
	.inst 0xe6b0f002                        @ other
	.inst 0xe7d0f002                        @ other
	.inst 0xe790f012                        @ other
	.inst 0xe730f011                        @ other
	.inst 0xe7f0f0f0                        @ other

@ load multiple
	pop {pc}                                @ indirect implied-return
	pop {r4, pc}                            @ indirect implied-return
	ldm sp!, {r0-r12, lr, pc}               @ indirect implied-return
	ldmia sp, {r4, fp, sp, pc}              @ indirect
	ldmdb r11, {r4, r11, sp, pc}            @ indirect
	ldmib r0!, {r1, pc}                     @ indirect
	ldmda r0, {pc}                          @ indirect
	ldm r1!, {pc}                           @ indirect
	ldm sp!, {r0-r12, pc}^                  @ indirect
	ldmdb r0, {r1, pc}^                     @ indirect
	ldm r13, {pc}^                          @ indirect
	popeq {r4, pc}                          @ indirect implied-return cond
	ldmibne r0, {pc}                        @ indirect cond
	pop {r4, lr}                            @ other
	ldm r0, {r1, r14}                       @ other
	stm r0, {r1, pc}                        @ other
	push {r4, pc}                           @ other
	ldm r0, {r1, lr}^                       @ other
	stmdb sp!, {pc}                         @ other
	stm r0, {pc}^                           @ other
	ldmdb r1!, {r0}                         @ other

@ unconditional space
	rfeia r0                                @ indirect
	rfeia sp!                               @ indirect
	srsia sp!, #19                          @ other
	rfeib r0                                @ indirect
	rfeib sp!                               @ indirect
	srsib sp!, #19                          @ other
	rfeda r0                                @ indirect
	rfeda sp!                               @ indirect
	srsda sp!, #19                          @ other
	rfedb r0                                @ indirect
	rfedb sp!                               @ indirect
	srsdb sp!, #19                          @ other
	isb                                     @ isb
	isb sy                                  @ isb
	isb #0                                  @ isb
	isb #3                                  @ isb
	dsb sy                                  @ other
	dsb ish                                 @ other
	dsb #0                                  @ other
	dmb sy                                  @ other
	dmb ishst                               @ other
	sb                                      @ other
	ssbb                                    @ other
	pssbb                                   @ other
	cpsid i                                 @ other
	cpsie aif, #19                          @ other
	setend be                               @ other
	setpan #1                               @ other
	pld [r0]                                @ other
	clrex                                   @ other
	vadd.i32 q0, q1, q2                     @ other
	vld1.8 {d0}, [r0]                       @ other
	crc32b r0, r1, r2                       @ other

@ barriers by CP15
	mcr p15, 0, r0, c7, c5, 4               @ isb
	mcreq p15, 0, r12, c7, c5, 4            @ isb cond
	mcr p15, 0, r0, c7, c10, 4              @ other
	mcr p15, 0, r0, c7, c10, 5              @ other
	mcr p15, 0, r0, c7, c5, 0               @ other
	mcr p15, 0, r0, c7, c5, 6               @ other
	mrc p15, 0, r0, c7, c5, 4               @ other
	mcr p14, 0, r0, c7, c5, 4               @ other
	mcr p15, 1, r0, c7, c5, 4               @ other
	mcr p15, 0, r0, c8, c5, 4               @ other
	mrc p14, 0, apsr_nzcv, c0, c1, 0        @ other
	mcrr p15, 0, r0, r1, c2                 @ other
	vmrs apsr_nzcv, fpscr                   @ other
	ldc p14, c5, [r0], #4                   @ other
	.inst 0xfe070f95                        @ other

@ waits and other hints
	wfe                                     @ wfx, needs wfx
	wfi                                     @ wfx, needs wfx
	wfene                                   @ wfx cond, needs wfx
	wfieq                                   @ wfx cond, needs wfx
	nop                                     @ other
	yield                                   @ other
	sev                                     @ other
	sevl                                    @ other
	esb                                     @ other
	csdb                                    @ other
	dbg #3                                  @ other
	tsb csync                               @ other
	hint #6                                 @ other
	hint #127                               @ other
	msr apsr_nzcvq, #0                      @ other
	msr cpsr_fc, #1                         @ other
	msr spsr_fsxc, #1                       @ other

@ exceptions and the rest
	svc #0                                  @ other
	svc #0xffffff                           @ other
	hvc #1                                  @ other
	smc #1                                  @ other
	bkpt #3                                 @ other
	hlt #3                                  @ other
	udf #3                                  @ other
	mrs r14, cpsr                           @ other
	mrs r14, spsr                           @ other
	msr cpsr_fc, r14                        @ other
	msr spsr_fsxc, r0                       @ other
	clz r14, r0                             @ other
	qadd r14, r1, r2                        @ other
	smlabb r0, r1, r2, r14                  @ other
	mul r14, r1, r2                         @ other
	umull r14, r12, r1, r2                  @ other
	sxth r14, r0                            @ other
	uxtab r14, r1, r2                       @ other
	bfi r14, r0, #1, #2                     @ other
	ubfx r14, r1, #3, #4                    @ other
	sdiv r14, r1, r2                        @ other
	rbit r14, r0                            @ other
	svceq #1                                @ other cond
	.inst 0xe320f000			@ other
last:
	nop                                     @ other

// SPDX-License-Identifier: GPL-2.0-or-later
// A64 waypoints and their neighbours. testing/unit/waypoints/make reads the comments and writes a64.inc.

first:
	nop                                     // other

// B, BL
	b first                                 // direct -> first
	b last                                  // direct -> last
	b .                                     // direct -> .+0
	b .+4                                   // direct -> .+4
	b .-4                                   // direct -> .-4
	b .+0x7fffffc                           // direct -> .+0x7fffffc
	b .-0x8000000                           // direct -> .-0x8000000
	bl first                                // direct link -> first
	bl last                                 // direct link -> last
	bl .+4                                  // direct link -> .+4
	bl .+0x7fffffc                          // direct link -> .+0x7fffffc
	bl .-0x8000000                          // direct link -> .-0x8000000

// B.cond, BC.cond: AL and NV are always taken
	b.eq first                              // direct cond -> first
	bc.eq .+8                               // direct cond -> .+8
	b.ne last                               // direct cond -> last
	bc.ne .-8                               // direct cond -> .-8
	b.hs first                              // direct cond -> first
	bc.hs .+8                               // direct cond -> .+8
	b.lo last                               // direct cond -> last
	bc.lo .-8                               // direct cond -> .-8
	b.mi first                              // direct cond -> first
	bc.mi .+8                               // direct cond -> .+8
	b.pl last                               // direct cond -> last
	bc.pl .-8                               // direct cond -> .-8
	b.vs first                              // direct cond -> first
	bc.vs .+8                               // direct cond -> .+8
	b.vc last                               // direct cond -> last
	bc.vc .-8                               // direct cond -> .-8
	b.hi first                              // direct cond -> first
	bc.hi .+8                               // direct cond -> .+8
	b.ls last                               // direct cond -> last
	bc.ls .-8                               // direct cond -> .-8
	b.ge first                              // direct cond -> first
	bc.ge .+8                               // direct cond -> .+8
	b.lt last                               // direct cond -> last
	bc.lt .-8                               // direct cond -> .-8
	b.gt first                              // direct cond -> first
	bc.gt .+8                               // direct cond -> .+8
	b.le last                               // direct cond -> last
	bc.le .-8                               // direct cond -> .-8
	b.al last                               // direct -> last
	bc.al first                             // direct -> first
	b.nv last                               // direct -> last
	bc.nv first                             // direct -> first
	b.eq .                                  // direct cond -> .+0
	b.eq .+0xffffc                          // direct cond -> .+0xffffc
	b.ne .-0x100000                         // direct cond -> .-0x100000
	bc.ne .-0x100000                        // direct cond -> .-0x100000
	bc.le .+0xffffc                         // direct cond -> .+0xffffc

// CBZ, CBNZ
	cbz w0, first                           // direct cond -> first
	cbz x0, last                            // direct cond -> last
	cbz wzr, .+4                            // direct cond -> .+4
	cbz xzr, .-4                            // direct cond -> .-4
	cbz w30, .+0xffffc                      // direct cond -> .+0xffffc
	cbz x30, .-0x100000                     // direct cond -> .-0x100000
	cbnz w0, first                          // direct cond -> first
	cbnz x0, last                           // direct cond -> last
	cbnz wzr, .+4                           // direct cond -> .+4
	cbnz xzr, .-4                           // direct cond -> .-4
	cbnz w30, .+0xffffc                     // direct cond -> .+0xffffc
	cbnz x30, .-0x100000                    // direct cond -> .-0x100000

// TBZ, TBNZ
	tbz w0, #0, first                       // direct cond -> first
	tbz w3, #31, last                       // direct cond -> last
	tbz x3, #32, .+4                        // direct cond -> .+4
	tbz x30, #63, .-4                       // direct cond -> .-4
	tbz wzr, #1, .+0x7ffc                   // direct cond -> .+0x7ffc
	tbz xzr, #62, .-0x8000                  // direct cond -> .-0x8000
	tbnz w0, #0, first                      // direct cond -> first
	tbnz w3, #31, last                      // direct cond -> last
	tbnz x3, #32, .+4                       // direct cond -> .+4
	tbnz x30, #63, .-4                      // direct cond -> .-4
	tbnz wzr, #1, .+0x7ffc                  // direct cond -> .+0x7ffc
	tbnz xzr, #62, .-0x8000                 // direct cond -> .-0x8000

// Compare and branch
	cbgt w3, w5, .+8                        // direct cond -> .+8
	cbge w30, wzr, .-8                      // direct cond -> .-8
	cbhi w3, w5, .                          // direct cond -> .+0
	cbhs w30, wzr, .+0x3fc                  // direct cond -> .+0x3fc
	cbeq w3, w5, .-0x400                    // direct cond -> .-0x400
	cbne w30, wzr, .-4                      // direct cond -> .-4
	cblt w3, w5, .+8                        // direct cond -> .+8
	cble w30, wzr, .-8                      // direct cond -> .-8
	cblo w3, w5, .                          // direct cond -> .+0
	cbls w30, wzr, .+0x3fc                  // direct cond -> .+0x3fc
	cbgt x3, x5, .-0x400                    // direct cond -> .-0x400
	cbge x30, xzr, .-4                      // direct cond -> .-4
	cbhi x3, x5, .+8                        // direct cond -> .+8
	cbhs x30, xzr, .-8                      // direct cond -> .-8
	cbeq x3, x5, .                          // direct cond -> .+0
	cbne x30, xzr, .+0x3fc                  // direct cond -> .+0x3fc
	cblt x3, x5, .-0x400                    // direct cond -> .-0x400
	cble x30, xzr, .-4                      // direct cond -> .-4
	cblo x3, x5, .+8                        // direct cond -> .+8
	cbls x30, xzr, .-8                      // direct cond -> .-8
	cbbgt w3, w5, .                         // direct cond -> .+0
	cbbge w30, wzr, .+0x3fc                 // direct cond -> .+0x3fc
	cbbhi w3, w5, .-0x400                   // direct cond -> .-0x400
	cbbhs w30, wzr, .-4                     // direct cond -> .-4
	cbbeq w3, w5, .+8                       // direct cond -> .+8
	cbbne w30, wzr, .-8                     // direct cond -> .-8
	cbblt w3, w5, .                         // direct cond -> .+0
	cbble w30, wzr, .+0x3fc                 // direct cond -> .+0x3fc
	cbblo w3, w5, .-0x400                   // direct cond -> .-0x400
	cbbls w30, wzr, .-4                     // direct cond -> .-4
	cbhgt w3, w5, .+8                       // direct cond -> .+8
	cbhge w30, wzr, .-8                     // direct cond -> .-8
	cbhhi w3, w5, .                         // direct cond -> .+0
	cbhhs w30, wzr, .+0x3fc                 // direct cond -> .+0x3fc
	cbheq w3, w5, .-0x400                   // direct cond -> .-0x400
	cbhne w30, wzr, .-4                     // direct cond -> .-4
	cbhlt w3, w5, .+8                       // direct cond -> .+8
	cbhle w30, wzr, .-8                     // direct cond -> .-8
	cbhlo w3, w5, .                         // direct cond -> .+0
	cbhls w30, wzr, .+0x3fc                 // direct cond -> .+0x3fc
	cbgt w0, #1, .-0x400                    // direct cond -> .-0x400
	cblt w3, #63, .-4                       // direct cond -> .-4
	cbhi w6, #17, .+8                       // direct cond -> .+8
	cblo w9, #32, .-8                       // direct cond -> .-8
	cbeq w12, #0, .                         // direct cond -> .+0
	cbne w15, #62, .+0x3fc                  // direct cond -> .+0x3fc
	cbge w18, #1, .-0x400                   // direct cond -> .-0x400
	cble w21, #5, .-4                       // direct cond -> .-4
	cbhs w24, #33, .+8                      // direct cond -> .+8
	cbls w27, #7, .-8                       // direct cond -> .-8
	cbgt x0, #1, .                          // direct cond -> .+0
	cblt x3, #63, .+0x3fc                   // direct cond -> .+0x3fc
	cbhi x6, #17, .-0x400                   // direct cond -> .-0x400
	cblo x9, #32, .-4                       // direct cond -> .-4
	cbeq x12, #0, .+8                       // direct cond -> .+8
	cbne x15, #62, .-8                      // direct cond -> .-8
	cbge x18, #1, .                         // direct cond -> .+0
	cble x21, #5, .+0x3fc                   // direct cond -> .+0x3fc
	cbhs x24, #33, .-0x400                  // direct cond -> .-0x400
	cbls x27, #7, .-4                       // direct cond -> .-4

// the unallocated conditions 100 and 101, the unallocated size 01, bits 25:24 == 1x
	.inst 0x74820023                        // other
	.inst 0x74a20023                        // other
	.inst 0xf4820023                        // other
	.inst 0x74828023                        // other
	.inst 0x74a2c023                        // other
	.inst 0x75820023                        // other
	.inst 0xf5a20023                        // other
	.inst 0x74024023                        // other
	.inst 0xf4024023                        // other
	.inst 0xf4028023                        // other
	.inst 0xf402c023                        // other
	.inst 0x75024023                        // other
	.inst 0x76020023                        // other
	.inst 0x77020023                        // other
	.inst 0xf6000000                        // other
	.inst 0xf7ffffff                        // other

// to a register
	br x0                                   // indirect
	blr x0                                  // indirect link
	ret x0                                  // indirect return
	br x1                                   // indirect
	blr x1                                  // indirect link
	ret x1                                  // indirect return
	br x15                                  // indirect
	blr x15                                 // indirect link
	ret x15                                 // indirect return
	br x16                                  // indirect
	blr x16                                 // indirect link
	ret x16                                 // indirect return
	br x29                                  // indirect
	blr x29                                 // indirect link
	ret x29                                 // indirect return
	br x30                                  // indirect
	blr x30                                 // indirect link
	ret x30                                 // indirect return
	br xzr                                  // indirect
	blr xzr                                 // indirect link
	ret xzr                                 // indirect return
	ret                                     // indirect return

// with pointer authentication
	braa x0, x1                             // indirect, needs v8_3
	blraa x0, x1                            // indirect link, needs v8_3
	brab x0, x1                             // indirect, needs v8_3
	blrab x0, x1                            // indirect link, needs v8_3
	braa x0, x16                            // indirect, needs v8_3
	blraa x0, x16                           // indirect link, needs v8_3
	brab x0, x16                            // indirect, needs v8_3
	blrab x0, x16                           // indirect link, needs v8_3
	braa x0, sp                             // indirect, needs v8_3
	blraa x0, sp                            // indirect link, needs v8_3
	brab x0, sp                             // indirect, needs v8_3
	blrab x0, sp                            // indirect link, needs v8_3
	braaz x0                                // indirect, needs v8_3
	blraaz x0                               // indirect link, needs v8_3
	brabz x0                                // indirect, needs v8_3
	blrabz x0                               // indirect link, needs v8_3
	braa x17, x1                            // indirect, needs v8_3
	blraa x17, x1                           // indirect link, needs v8_3
	brab x17, x1                            // indirect, needs v8_3
	blrab x17, x1                           // indirect link, needs v8_3
	braa x17, x16                           // indirect, needs v8_3
	blraa x17, x16                          // indirect link, needs v8_3
	brab x17, x16                           // indirect, needs v8_3
	blrab x17, x16                          // indirect link, needs v8_3
	braa x17, sp                            // indirect, needs v8_3
	blraa x17, sp                           // indirect link, needs v8_3
	brab x17, sp                            // indirect, needs v8_3
	blrab x17, sp                           // indirect link, needs v8_3
	braaz x17                               // indirect, needs v8_3
	blraaz x17                              // indirect link, needs v8_3
	brabz x17                               // indirect, needs v8_3
	blrabz x17                              // indirect link, needs v8_3
	braa x30, x1                            // indirect, needs v8_3
	blraa x30, x1                           // indirect link, needs v8_3
	brab x30, x1                            // indirect, needs v8_3
	blrab x30, x1                           // indirect link, needs v8_3
	braa x30, x16                           // indirect, needs v8_3
	blraa x30, x16                          // indirect link, needs v8_3
	brab x30, x16                           // indirect, needs v8_3
	blrab x30, x16                          // indirect link, needs v8_3
	braa x30, sp                            // indirect, needs v8_3
	blraa x30, sp                           // indirect link, needs v8_3
	brab x30, sp                            // indirect, needs v8_3
	blrab x30, sp                           // indirect link, needs v8_3
	braaz x30                               // indirect, needs v8_3
	blraaz x30                              // indirect link, needs v8_3
	brabz x30                               // indirect, needs v8_3
	blrabz x30                              // indirect link, needs v8_3
	retaa                                   // indirect return, needs v8_3
	retab                                   // indirect return, needs v8_3
	retaasppc first                         // indirect return, needs v8_3
	retaasppc .                             // indirect return, needs v8_3
	retaasppc .-0x3fffc                     // indirect return, needs v8_3
	retaasppcr x0                           // indirect return, needs v8_3
	retaasppcr x17                          // indirect return, needs v8_3
	retaasppcr x30                          // indirect return, needs v8_3
	retabsppc first                         // indirect return, needs v8_3
	retabsppc .                             // indirect return, needs v8_3
	retabsppc .-0x3fffc                     // indirect return, needs v8_3
	retabsppcr x0                           // indirect return, needs v8_3
	retabsppcr x17                          // indirect return, needs v8_3
	retabsppcr x30                          // indirect return, needs v8_3

// exception returns
	eret                                    // indirect eret
	eretaa                                  // indirect eret, needs v8_3
	eretab                                  // indirect eret, needs v8_3
	texit                                   // indirect eret, needs v8_3
	texit nb                                // indirect eret, needs v8_3
	drps                                    // other

// not allocated next to them
	.inst 0xd61f0400                        // other
	.inst 0xd61f0001                        // other
	.inst 0xd61e0000                        // other
	.inst 0xd63f0001                        // other
	.inst 0xd65f0001                        // other
	.inst 0xd65f0bc0                        // other
	.inst 0xd65f07ff                        // other
	.inst 0xd69f0000                        // other
	.inst 0xd69f03e1                        // other
	.inst 0xd69f0be0                        // other
	.inst 0xd6bf03e1                        // other
	.inst 0xd6df03e0                        // other
	.inst 0xd6ff03e1                        // other
	.inst 0xd6ff0be0                        // other
	.inst 0xd71f0000                        // other
	.inst 0xd73f0000                        // other
	.inst 0xd75f0bff                        // other
	.inst 0xd77f0800                        // other
	.inst 0x5580001f                        // other
	.inst 0x55c0001f                        // other
	.inst 0x55000000                        // other
	.inst 0x5500001e                        // other
	.inst 0x56000000                        // other
	.inst 0x57000000                        // other

// ISB and other barriers
	isb                                     // isb
	isb sy                                  // isb
	isb #0                                  // isb
	isb #1                                  // isb
	isb #2                                  // isb
	isb #3                                  // isb
	isb #4                                  // isb
	isb #5                                  // isb
	isb #6                                  // isb
	isb #7                                  // isb
	isb #8                                  // isb
	isb #9                                  // isb
	isb #10                                 // isb
	isb #11                                 // isb
	isb #12                                 // isb
	isb #13                                 // isb
	isb #14                                 // isb
	dsb sy                                  // other
	dsb ish                                 // other
	dsb #0                                  // other
	dsb nshld                               // other
	dsb synxs                               // other
	dsb oshnxs                              // other
	dmb sy                                  // other
	dmb ishst                               // other
	dmb oshld                               // other
	ssbb                                    // other
	pssbb                                   // other
	sb                                      // other
	clrex                                   // other
	clrex #3                                // other

// waits; the assembler does not know FEAT_TME
	wfe                                     // wfx, needs wfx
	wfi                                     // wfx, needs wfx
	wfet x0                                 // wfx, needs wfx v9
	wfet x30                                // wfx, needs wfx v9
	wfet xzr                                // wfx, needs wfx v9
	wfit x0                                 // wfx, needs wfx v9
	wfit x15                                // wfx, needs wfx v9
	wfit xzr                                // wfx, needs wfx v9
	.inst 0xd5233060                        // tstart, needs v9
	.inst 0xd5233063                        // tstart, needs v9
	.inst 0xd523307f                        // tstart, needs v9
	.inst 0xd503307f                        // other
	.inst 0xd4600000                        // other
	.inst 0xd5233160                        // other

// hints, system registers, exceptions, other instructions
	yield                                   // other
	sev                                     // other
	sevl                                    // other
	dgh                                     // other
	esb                                     // other
	csdb                                    // other
	tsb csync                               // other
	psb csync                               // other
	gcsb dsync                              // other
	bti                                     // other
	bti c                                   // other
	bti j                                   // other
	bti jc                                  // other
	paciasp                                 // other
	autiasp                                 // other
	pacibsp                                 // other
	autibsp                                 // other
	autiasppc first                         // other
	autiasppcr x3                           // other
	xpaclri                                 // other
	chkfeat x16                             // other
	hint #127                               // other
	msr daifset, #2                         // other
	msr spsel, #1                           // other
	mrs x0, nzcv                            // other
	msr elr_el1, x30                        // other
	mrs x0, cntvct_el0                      // other
	sys #0, c7, c5, #0, x0                  // other
	sysl x3, #3, c3, c3, #0                 // other
	ic iallu                                // other
	dc zva, x0                              // other
	tlbi vmalle1is                          // other
	at s1e1r, x0                            // other
	svc #0                                  // other
	svc #0xffff                             // other
	hvc #1                                  // other
	smc #2                                  // other
	brk #0xf000                             // other
	hlt #3                                  // other
	dcps1                                   // other
	dcps2                                   // other
	dcps3 #7                                // other
	udf #0                                  // other
	tenter #3                               // other
	gcspopx                                 // other
	gcspopcx                                // other
	gcsss1 x0                               // other
	add x0, x1, x2                          // other
	sub sp, sp, #16                         // other
	cmp x0, #0                              // other
	mov x30, x0                             // other
	movk x0, #1, lsl #16                    // other
	adr x0, first                           // other
	adrp x0, first                          // other
	ldr x30, [sp], #16                      // other
	ldp x29, x30, [sp], #16                 // other
	ldraa x0, [x1]                          // other
	ldr x0, last                            // other
	stp x29, x30, [sp, #-16]!               // other
	csel x0, x1, x2, eq                     // other
	ccmp x0, #1, #2, ne                     // other
	fmov d0, x0                             // other
	fadd v0.4s, v1.4s, v2.4s                // other
	casal x0, x1, [x2]                      // other
	ldxr x0, [x1]                           // other
	madd x0, x1, x2, x3                     // other
	ctermeq x0, x1                          // other
	whilelo p0.s, x0, x1                    // other
	fcmp d0, #0.0                           // other
	pacga x0, x1, x2                        // other
	autia x30, sp                           // other
	xpaci x30                               // other
	rmif x0, #1, #2                         // other
	setf8 w0                                // other
	cfinv                                   // other
last:
	nop                                     // other

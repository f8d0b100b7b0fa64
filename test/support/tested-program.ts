import { fileURLToPath } from 'node:url'

/** The program that is tested: what was built, where the runner names it, which starts in less than half the time; else the sources. */
export const TESTED_PROGRAM = process.env.TESTED_PROGRAM ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url))

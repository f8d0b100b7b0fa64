import { totalmem } from 'node:os'

/** Bytes that this process may use: those of the machine, or of its container. */
export const grantedMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

const SMALL = 512 * 1024 ** 2

/** Whether caches and work in flight have to be small; then 256 MB are enough. */
export const isMemorySmall = (): boolean => grantedMemory() < SMALL

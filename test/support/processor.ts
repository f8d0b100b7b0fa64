/** Milliseconds of the processor that this thread has used: what else runs on the machine counts for nothing. */
export const processorTime = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Figures of one contestant, in microseconds for each unit. */
export interface Figure {
  /**
   * Processor time of this thread, the mean of all rounds: it hardly changes where other processes are in the way. The system counts it in
   * steps of some milliseconds.
   */
  cpu: number
  /** The median of the rounds. */
  wall: number
}

export interface Contestant {
  name: string
  /** Does its work once and returns how many units that were. */
  run(): number
}

/** Runs contestants in turn, so that a busy moment of the machine hits all of them; the first rounds warm up. */
export const compare = (contestants: readonly Contestant[], rounds: number, warm = 2): Map<string, Figure> => {
  const samples = new Map(contestants.map(({ name }) => [name, [] as Figure[]]))
  for (let round = -warm; round < rounds; round++)
    for (const { name, run } of round % 2 ? contestants : contestants.toReversed()) {
      const figure = timed(run)
      if (round >= 0) samples.get(name)!.push(figure)
    }
  return new Map([...samples].map(([name, list]) => [name, summedUp(list)]))
}

export const timed = (run: () => number): Figure => {
  const cpu = process.threadCpuUsage()
  const start = performance.now()
  const units = run()
  const wall = ((performance.now() - start) * 1000) / units
  const { user, system } = process.threadCpuUsage(cpu)
  return { cpu: (user + system) / units, wall }
}

export const summedUp = (list: readonly Figure[]): Figure => ({
  cpu: list.reduce((sum, { cpu }) => sum + cpu, 0) / list.length,
  wall: median(list.map(({ wall }) => wall)),
})

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** Lines of a Markdown table. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
  return all.map(row => `| ${row.join(' | ')} |`).join('\n')
}

export const short = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

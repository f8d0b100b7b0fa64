import { connect } from '../connection.ts'
import type { BenchEffort } from '../options.ts'
import type { Request } from '../queries.ts'
import { type Times, timesOf } from '../times.ts'
import { type Clients, startClients } from './clients.ts'
import { type Both, inTurns, SIDES, type Side, type SideName } from './sides.ts'
import type { Question } from './ten.ts'

/** Searches by both, in turns. */

export interface Asked {
  question: string
  /** The median of the values. */
  hits: number
  /** Where it is not empty, the two were not asked the same, and times say nothing. */
  differing: ({ value: string } & Both<number>)[]
  times: Both<Spent>
}

export interface Spent extends Times {
  /** Processor time of the server for each answer, in ms. Undefined where the system does not tell. */
  cpu: number | undefined
}

/** One client each, on a connection that is kept. */
export const askBoth = async (
  { name, requests }: Question,
  sides: Both<Side>,
  { runs, budgetMs }: BenchEffort,
): Promise<Asked> => {
  const connections = mapSides(side => connect(sides[side].url))
  const bytes = mapSides(side => requests.map(sides[side].bytes))
  const ask = async (side: SideName, i: number): Promise<Buffer> => {
    const { status, body } = await connections[side].ask(bytes[side][i % requests.length]!)
    if (status !== 200) throw new Error(`${name}: ${side} answered ${status}: ${body.toString('utf8', 0, 500)}`)
    return body
  }
  try {
    const totals: Both<number[]> = { ours: [], theirs: [] }
    for (const i of requests.keys())
      for (const side of SIDES) totals[side].push(sides[side].totalOf(JSON.parse((await ask(side, i)).toString())))
    const times: Both<number[]> = { ours: [], theirs: [] }
    const meters = { ours: await startMeter(sides.ours), theirs: await startMeter(sides.theirs) }
    const end = performance.now() + budgetMs
    await inTurns(Math.ceil(runs / TURN), async (side, round) => {
      if (performance.now() > end && round > 0) return
      for (let i = 0; i < TURN; i++) {
        const start = performance.now()
        await ask(side, round * TURN + i)
        times[side].push(performance.now() - start)
      }
    })
    return {
      question: name,
      hits: timesOf(totals.ours).p50,
      differing: differingIn(requests, totals),
      times: await spentOf(times, meters),
    }
  } finally {
    for (const side of SIDES) connections[side].close()
  }
}

const differingIn = (requests: readonly Request[], totals: Both<number[]>): Asked['differing'] =>
  requests.flatMap(({ label }, i) => {
    const [ours, theirs] = [totals.ours[i]!, totals.theirs[i]!]
    return ours === theirs ? [] : [{ value: label, ours, theirs }]
  })

export interface Crowd {
  clients: number
  results: Both<Spent & { perSecond: number }>
}

/** As many clients at once, for each side in turns. */
export const crowdBoth = async (
  crowd: Clients,
  sides: Both<Side>,
  requests: readonly Request[],
  clients: number,
  { rounds, seconds }: Pick<BenchEffort, 'rounds' | 'seconds'>,
): Promise<Crowd> => {
  const texts = mapSides(side => requests.map(request => sides[side].bytes(request).toString()))
  const times: Both<number[]> = { ours: [], theirs: [] }
  const spent: Both<number> = { ours: 0, theirs: 0 }
  const meters = { ours: await startMeter(sides.ours), theirs: await startMeter(sides.theirs) }
  await inTurns(rounds, async side => {
    const work = await crowd.run({ url: sides[side].url, requests: texts[side], clients, seconds })
    for (const time of work.times) times[side].push(time)
    spent[side] += work.seconds
  })
  const all = await spentOf(times, meters)
  return {
    clients,
    results: mapSides(side => ({ ...all[side], perSecond: times[side].length / spent[side] })),
  }
}

const spentOf = async (times: Both<number[]>, meters: Both<Meter>): Promise<Both<Spent>> => {
  const of = async (side: SideName) => ({ ...timesOf(times[side]), cpu: await meters[side].each(times[side].length) })
  return { ours: await of('ours'), theirs: await of('theirs') }
}

export interface Fairness {
  /** Of searches by `_id` meanwhile. */
  cheap: Times
  /** Clients that do nothing but scan. */
  scanning: number
  scansPerSecond: number
}

/** Searches that are cheap while clients keep as many scans under way. */
export const askBesideScans = async (
  side: Side,
  cheap: readonly Request[],
  scans: readonly Request[],
  seconds: number,
): Promise<Fairness> => {
  const crowd = startClients()
  const connection = connect(side.url)
  const [own, theirs] = [cheap, scans].map(list => list.map(side.bytes)) as [Buffer[], Buffer[]]
  const times: number[] = []
  let scanning = true
  try {
    const job = { url: side.url, requests: theirs.map(String), clients: SCANNING, seconds }
    const ended = crowd.run(job).finally(() => {
      scanning = false
    })
    for (let i = 0; scanning; i++) {
      const start = performance.now()
      const { status } = await connection.ask(own[i % own.length]!)
      if (status !== 200) throw new Error(`a search by _id was answered ${status} beside scans`)
      times.push(performance.now() - start)
    }
    const work = await ended
    return { cheap: timesOf(times), scanning: SCANNING, scansPerSecond: work.times.length / work.seconds }
  } finally {
    crowd.close()
    connection.close()
  }
}

interface Meter {
  /** In ms, of so many answers each. */
  each(answers: number): Promise<number | undefined>
}

/** Processor time from now on. Each side rests while it is the other's turn. */
const startMeter = async (side: Side): Promise<Meter> => {
  const before = await side.cpuSeconds()
  return {
    async each(answers) {
      const after = await side.cpuSeconds()
      return before === undefined || after === undefined ? undefined : ((after - before) * 1000) / answers
    },
  }
}

const mapSides = <T>(make: (side: SideName) => T): Both<T> => ({ ours: make('ours'), theirs: make('theirs') })

/** Requests to one side before it is the other's turn. */
const TURN = 20
const SCANNING = 20

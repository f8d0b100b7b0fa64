import { type Times, timesOf } from '../../lib/table.ts'
import { anew, roomy, VARYING, type Varying } from '../anew.ts'
import { connect } from '../connection.ts'
import type { Note } from '../filled.ts'
import type { BenchEffort } from '../options.ts'
import type { Request } from '../queries.ts'
import { type Clients, startClients } from './clients.ts'
import { type Both, inTurns, mapSides, SIDES, type Side, type SideName } from './sides.ts'
import type { Question } from './ten.ts'

export interface Asked {
  question: string
  hits: number
  /** Where it is not empty, the two were not asked the same, and times say nothing. */
  differing: ({ value: string } & Both<number>)[]
  times: Both<Times>
  /** Of the same requests to the letter, so that a server may answer from answers that it keeps. */
  again: Both<Times>
  /** Processor time of our server for each answer, in ms; undefined where the system does not tell. */
  cpu: number | undefined
}

/** One client each, on a connection that is kept. No request is sent twice, but for those that are to be. */
const askBoth = async (
  { name, requests }: Question,
  sides: Both<Side>,
  { runs, budgetMs }: BenchEffort,
  varying: Varying,
): Promise<Asked> => {
  const connections = mapSides(side => connect(sides[side].url))
  const ask = async (side: SideName, request: Buffer): Promise<Buffer> => {
    const { status, body } = await connections[side].ask(request)
    if (status !== 200) throw new Error(`${name}: ${side} answered ${status}: ${body.toString('utf8', 0, 500)}`)
    return body
  }
  const bytes = mapSides(side => requests.map(request => sides[side].bytes(roomy(request))))
  const same = (side: SideName, i: number) => bytes[side][i % requests.length]!
  const another = (side: SideName, i: number) => VARYING[varying](same(side, i))
  const timesOfBoth = async (requestFor: typeof same): Promise<Both<number[]>> => {
    const times: Both<number[]> = { ours: [], theirs: [] }
    const end = performance.now() + budgetMs
    await inTurns(Math.ceil(runs / TURN), async (side, round) => {
      if (performance.now() > end && round > 0) return
      for (let i = 0; i < TURN; i++) {
        const request = requestFor(side, round * TURN + i)
        const start = performance.now()
        await ask(side, request)
        times[side].push(performance.now() - start)
      }
    })
    return times
  }
  try {
    const totals: Both<number[]> = { ours: [], theirs: [] }
    for (const i of requests.keys())
      for (const side of SIDES) totals[side].push(totalOf(JSON.parse((await ask(side, another(side, i))).toString())))
    const meter = await startMeter(sides.ours)
    const times = await timesOfBoth(another)
    const cpu = await meter.each(times.ours.length)
    const again = await timesOfBoth(same)
    return {
      question: name,
      hits: timesOf(totals.ours).p50,
      differing: differingIn(requests, totals),
      times: mapSides(side => timesOf(times[side])),
      again: mapSides(side => timesOf(again[side])),
      cpu,
    }
  } finally {
    for (const side of SIDES) connections[side].close()
  }
}

interface Answer {
  hits: { total: number | { value: number } }
}

const totalOf = ({ hits: { total } }: Answer): number => (typeof total === 'number' ? total : total.value)

const differingIn = (requests: readonly Request[], totals: Both<number[]>): Asked['differing'] =>
  requests.flatMap(({ label }, i) => {
    const [ours, theirs] = [totals.ours[i]!, totals.theirs[i]!]
    return ours === theirs ? [] : [{ value: label, ours, theirs }]
  })

export interface Crowd {
  clients: number
  varying: Varying
  results: Both<Worked>
}

/** Requests of all questions, and what of them is another thing each time. */
export interface Mix {
  requests: readonly Request[]
  varying: Varying
}

export interface Compared {
  asked: Asked[]
  crowds: Crowd[]
}

/** Each question by one client, then all of them mixed by several clients at once. The first mix also warms both up, and tells what varies in questions. */
export const compareSearches = async (
  sides: Both<Side>,
  { questions, mixes, clients }: { questions: readonly Question[]; mixes: readonly Mix[]; clients: readonly number[] },
  effort: BenchEffort,
  note: Note,
): Promise<Compared> => {
  const [first] = mixes
  const crowd = startClients()
  const compared: Compared = { asked: [], crowds: [] }
  try {
    note('Warming up both')
    await crowdBoth(crowd, sides, first!, 4, { rounds: 1, seconds: effort.seconds * WARM })
    for (const question of questions) {
      note(`Asking both: ${question.name}`)
      compared.asked.push(await askBoth(question, sides, effort, first!.varying))
    }
    for (const many of clients) {
      note(`Asking both by ${many} clients`)
      for (const mix of mixes) compared.crowds.push(await crowdBoth(crowd, sides, mix, many, effort))
    }
    return compared
  } finally {
    crowd.close()
  }
}

/** Turns' worth of time for the just-in-time compilers of both. */
const WARM = 4

export interface Worked extends Times {
  perSecond: number
  /** As in `Asked`. */
  cpu: number | undefined
}

/** As many clients at once, for each side in turns. */
const crowdBoth = async (
  crowd: Clients,
  sides: Both<Side>,
  { requests, varying }: Mix,
  clients: number,
  { rounds, seconds }: Pick<BenchEffort, 'rounds' | 'seconds'>,
): Promise<Crowd> => {
  const texts = mapSides(side => textsOf(sides[side], requests))
  const times: Both<number[]> = { ours: [], theirs: [] }
  const spent: Both<number> = { ours: 0, theirs: 0 }
  const meters = { ours: await startMeter(sides.ours), theirs: await startMeter(sides.theirs) }
  await inTurns(rounds, async side => {
    const work = await crowd.run({ url: sides[side].url, requests: texts[side], varying, clients, seconds })
    for (const time of work.times) times[side].push(time)
    spent[side] += work.seconds
  })
  const worked = async (side: SideName): Promise<Worked> => {
    const answers = times[side].length
    return { ...timesOf(times[side]), perSecond: answers / spent[side], cpu: await meters[side].each(answers) }
  }
  return { clients, varying, results: { ours: await worked('ours'), theirs: await worked('theirs') } }
}

export interface Fairness {
  /** Of searches by `_id` while nothing else is asked, and while scans are under way. */
  alone: Times
  beside: Times
  /** Clients that do nothing but scan. */
  scanning: number
  scansPerSecond: number
}

/** Searches that are cheap, at first alone, then while clients keep as many scans under way. */
export const askBesideScans = async (
  side: Side,
  cheap: readonly Request[],
  scans: readonly Request[],
  seconds: number,
): Promise<Fairness> => {
  const connection = connect(side.url)
  const bytes = cheap.map(request => side.bytes(roomy(request)))
  const askUntil = async (isOver: () => boolean): Promise<Times> => {
    const times: number[] = []
    for (let i = 0; !isOver(); i++) {
      const start = performance.now()
      const { status } = await connection.ask(anew(bytes[i % bytes.length]!))
      if (status !== 200) throw new Error(`a search by _id was answered ${status}`)
      times.push(performance.now() - start)
    }
    return timesOf(times)
  }
  const crowd = startClients()
  const job = { url: side.url, requests: textsOf(side, scans), varying: 'space', clients: SCANNING, seconds } as const
  try {
    const end = performance.now() + (seconds * 1000) / 2
    const alone = await askUntil(() => performance.now() > end)
    let ended = false
    const scanned = crowd.run(job).finally(() => {
      ended = true
    })
    const [beside, work] = await Promise.all([askUntil(() => ended), scanned])
    return { alone, beside, scanning: SCANNING, scansPerSecond: work.times.length / work.seconds }
  } finally {
    crowd.close()
    connection.close()
  }
}

const textsOf = (side: Side, requests: readonly Request[]): string[] =>
  requests.map(request => side.bytes(roomy(request)).toString())

interface Meter {
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

const TURN = 20
const SCANNING = 20

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, refuse } from '../../src/lib/errors.ts'
import {
  builtProgram,
  byDefault,
  PROGRAM,
  readFlags,
  runMain,
  SEVERAL,
  SWITCH,
  TEXT,
  wholeNumber,
} from '../lib/flags.ts'
import { createRandom, mix } from '../lib/random.ts'
import { showTable } from '../lib/table.ts'
import { type Attack, brief, type Context, type Finding, type Outcome } from './attack.ts'
import { bits } from './bits.ts'
import { bodies } from './bodies.ts'
import { connections } from './connections.ts'
import { damage } from './damage.ts'
import { fairness } from './fairness.ts'
import { largest } from './largest.ts'
import { node } from './node.ts'
import { packs } from './packs.ts'
import { receivers } from './receivers.ts'
import { reorganisations } from './reorganisations.ts'
import { rules } from './rules.ts'
import { startVictim, type Victim } from './server.ts'

export const ATTACKS: readonly Attack[] = [
  bodies,
  connections,
  node,
  packs,
  bits,
  damage,
  rules,
  receivers,
  fairness,
  largest,
  reorganisations,
]

const USAGE = `Attacks the built program on loopback and prints what it found; exits 1 where it found something.

npm run attack -- [--only NAME]… [--seed N] [--count N] [--seconds N] [--try N] [--program FILE]

--only     this attack alone; may be repeated (${ATTACKS.map(({ name }) => name).join(', ')})
--seed     of all that is random (default: another one each time; it is printed)
--count    tries of each attack, in place of its own number
--seconds  longest time for the tries of each attack (default 600)
--try      one try alone, by the number that its finding was printed with; needs the same --seed
--all      prints all findings, not the first few of each kind
--program  what is attacked (default dist/chainsieve.mjs)

${ATTACKS.map(({ name, is }) => `${name.padEnd(12)} ${is}`).join('\n')}`

export interface Options {
  seed: number
  count?: number | undefined
  seconds: number
  attempt?: number | undefined
  program: string
}

/** What an attack found, with what was seen of the servers that it ran against. */
export interface Result extends Outcome {
  name: string
  /** Most memory of a server that is no file's, in bytes; 0 where none was started or the system does not tell. */
  peak: number
  worstHealthMs: number
}

export const attack = async ({ name, run }: Attack, options: Options): Promise<Result> => {
  const { seed, count, seconds, attempt, program } = options
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-attack-'))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)
  const victims: Victim[] = []
  const context: Context = {
    seed,
    program,
    folder,
    tries: fallback => numbers(attempt, count ?? fallback, performance.now() + seconds * 1000),
    random(attempt) {
      const random = createRandom()
      random.seek(seed, textSeed(name), attempt, 0)
      return random
    },
    async serve(serving) {
      const data = join(folder, `data-${victims.length}`)
      mkdirSync(data)
      const victim = await startVictim(program, data, serving)
      victims.push(victim)
      return victim
    },
  }
  try {
    const outcome = await run(context).catch(error => failed(error, victims))
    const findings = [...outcome.findings]
    let peak = 0
    for (const victim of victims) {
      const { ms, died, peak: own } = await victim.stop()
      peak = Math.max(peak, own)
      if (died !== undefined) findings.push({ what: 'the process ended', how: died })
      else if (ms > STOP_MS)
        findings.push({ what: 'it does not stop at once', how: `SIGTERM took ${Math.round(ms)} ms`, isTime: true })
    }
    if (peak > MAX_BYTES) findings.push({ what: 'it takes too much memory', how: `${Math.ceil(peak / 1e6)} MB` })
    const worstHealthMs = Math.max(0, ...victims.map(victim => victim.worstHealthMs()))
    return { ...outcome, name, findings, peak, worstHealthMs }
  } finally {
    for (const victim of victims) if (victim.alive()) await victim.stop()
    remove()
    process.off('exit', remove)
  }
}

function* numbers(only: number | undefined, count: number, end: number): Generator<number> {
  if (only !== undefined) yield only
  else for (let i = 0; i < count && performance.now() < end; i++) yield i
}

/** What ends an attack is a finding where it ended the server, else a fault of the attack itself. */
const failed = (error: unknown, victims: readonly Victim[]): Outcome => {
  if (victims.every(victim => victim.alive())) throw error
  return { tries: 0, worstMs: 0, findings: [{ what: 'the attack broke off', how: messageOf(error) }] }
}

const textSeed = (text: string): number => [...text].reduce((seed, it) => mix(seed + it.codePointAt(0)!), 0)

const STOP_MS = 2_000
const MAX_BYTES = 1e9

export const showFindings = (name: string, findings: readonly Finding[], most = SHOWN): string =>
  [...Map.groupBy(findings, ({ what }) => what)]
    .map(([what, all]) => {
      const shown = all.slice(0, most).map(({ attempt, how }) => {
        const label = attempt === undefined ? '' : `--only ${name} --try ${attempt}: `
        return `  ${label}${brief(how, 2_000)}`
      })
      const more = all.length > most ? [`  … and ${all.length - most} more`] : []
      return [`${name}: ${what} (${all.length})`, ...shown, ...more].join('\n')
    })
    .join('\n')

const SHOWN = 5

export const showResults = (results: readonly Result[]): string =>
  showTable([
    ['attack', 'tries', 'findings', 'worst ms', '/health ms', 'memory MB'],
    ...results.map(({ name, tries, findings, worstMs, worstHealthMs, peak }) =>
      [name, tries, findings.length, Math.ceil(worstMs), Math.ceil(worstHealthMs), Math.ceil(peak / 1e6)].map(String),
    ),
  ])

const main = async (): Promise<boolean> => {
  const values = readFlags(USAGE, {
    ...{ only: SEVERAL, seed: TEXT, count: TEXT, seconds: byDefault('600'), try: TEXT, program: PROGRAM, all: SWITCH },
  })
  const unknown = values.only?.find(name => !ATTACKS.some(it => it.name === name))
  if (unknown !== undefined)
    throw refuse('unknown_attack', `there is no attack ${unknown}: choose of ${ATTACKS.map(it => it.name).join(', ')}`)
  const seed = integer('seed', values.seed) ?? Math.floor(Math.random() * 2 ** 31)
  const options: Options = {
    seed,
    count: integer('count', values.count),
    seconds: wholeNumber('seconds', values.seconds),
    attempt: integer('try', values.try),
    program: builtProgram(values.program),
  }
  console.log(`--seed ${seed}`)
  const results: Result[] = []
  for (const one of ATTACKS.filter(({ name }) => values.only?.includes(name) ?? true)) {
    console.error(`${one.name}: ${one.is}`)
    const result = await attack(one, options)
    results.push(result)
    for (const line of result.notes ?? []) console.log(`${one.name}: ${line}`)
    if (result.findings.length > 0) console.log(showFindings(one.name, result.findings, values.all ? Infinity : SHOWN))
  }
  console.log(showResults(results))
  return results.every(({ findings }) => findings.length === 0)
}

const integer = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber(name, text)

if (import.meta.main) runMain(main)

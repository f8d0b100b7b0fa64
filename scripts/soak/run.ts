import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { refuse } from '../../src/lib/errors.ts'
import { builtProgram, byDefault, PROGRAM, readFlags, runMain, TEXT } from '../lib/flags.ts'
import { count } from '../lib/table.ts'
import { judge } from './judge.ts'
import { showChart, showJudgements, showSamples } from './show.ts'
import { soak } from './soak.ts'

const USAGE = `Runs the built program on loopback for a long time, and looks whether it stays as it is: a head with reorganisations,
back-fill, a node and receivers that fail, queries, backups, and kill -9 now and then. Exits with 1 if memory, open
files, threads or disk grow, an alert is lost or comes twice, or a document is missing.

npm run soak -- [--minutes N] [--seed N] [--block-time MS] [--keep-blocks N] [--kills N] [--program FILE] [--json FILE]

--minutes      how long (default 60); shorter soaks than 30 minutes show their curves, and do not fail by them
--seed         of the chain and of what happens to it (default: another one each time; it is printed)
--block-time   milliseconds between two blocks of 150 transactions and 300 logs (default 1000)
--keep-blocks  blocks that the server keeps (default 300)
--kills        how often it is killed, up to three times in a row (default: twice, in an hour four times)
--program      what is run (default dist/chainsieve.mjs)
--json         where all samples go`

const MINUTE = 60_000

const main = async (): Promise<boolean> => {
  const values = readFlags(USAGE, {
    ...{ minutes: byDefault('60'), seed: TEXT, 'block-time': byDefault('1000'), 'keep-blocks': byDefault('300') },
    ...{ kills: TEXT, program: PROGRAM, json: TEXT },
  })
  const program = builtProgram(values.program)
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : number('seed', values.seed)
  const milliseconds = number('minutes', values.minutes) * MINUTE
  console.log(`--seed ${seed} --minutes ${values.minutes}`)
  const started = Date.now()
  const { samples, findings, counts } = await soak({
    ...{ program, milliseconds, seed },
    blockMs: number('block-time', values['block-time']),
    keep: number('keep-blocks', values['keep-blocks']),
    kills:
      values.kills === undefined
        ? Math.max(2, Math.round(milliseconds / KILL_EVERY_MS))
        : number('kills', values.kills, 0),
    note: text => console.error(`${((Date.now() - started) / MINUTE).toFixed(1)} min: ${text}`),
  })
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed, counts, findings, samples }))
  const judgements = judge(samples, {
    warmMs: { life: Math.min(5 * MINUTE, milliseconds / 6), soak: milliseconds / 2 },
  })
  console.log(showSamples(samples))
  console.log(`\n${showChart(samples)}`)
  console.log(`\n${showJudgements(judgements)}`)
  const told = Object.entries(counts).map(([name, value]) => `${name} ${count(value)}`)
  console.log(`\n${told.join(', ')}; load ${loadavg()[1]!.toFixed(1)}`)
  for (const finding of findings.slice(0, SHOWN)) console.log(`found: ${finding}`)
  if (findings.length > SHOWN) console.log(`found: … and ${findings.length - SHOWN} more`)
  const fails = milliseconds >= JUDGED_MS && judgements.some(({ flat }) => !flat)
  return findings.length === 0 && !fails
}

const SHOWN = 20
const KILL_EVERY_MS = 15 * MINUTE
/** Before, caches still fill, and the disk has not reached the size at which old blocks make room for new ones. */
const JUDGED_MS = 30 * MINUTE

const number = (name: string, text: string, least = Number.MIN_VALUE): number => {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value >= least) return value
  throw refuse('bad_option', `--${name} takes a number${least > 0 ? ' above 0' : ''}, not ${JSON.stringify(text)}`)
}

if (import.meta.main) runMain(main)

import { existsSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf, refuse } from '../../src/lib/errors.ts'
import { count } from '../bench/table.ts'
import { judge } from './judge.ts'
import { showChart, showJudgements, showSamples } from './show.ts'
import { soak } from './soak.ts'

const USAGE = `Runs the built program on loopback for a long time, and looks whether it stays as it is: a head with reorganisations,
back-fill, a node and receivers that fail, queries, backups, and kill -9 now and then. Exits with 1 where memory, open
files, threads or disk grow, an alert is lost or comes twice, or a document is missing.

npm run soak -- [--minutes N] [--seed N] [--block-time MS] [--keep-blocks N] [--program FILE] [--json FILE]

--minutes      how long (default 60); curves are judged after a warm-up, and below ten minutes hardly
--seed         of the chain and of what happens to it (default: another one each time; it is printed)
--block-time   milliseconds between two blocks of 150 transactions and 300 logs (default 1000)
--keep-blocks  blocks that the server keeps (default 300)
--program      what is run (default dist/chainsieve.mjs)
--json         where all samples go`

const MINUTE = 60_000

const main = async (): Promise<boolean> => {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      seed: { type: 'string' },
      'block-time': { type: 'string', default: '1000' },
      'keep-blocks': { type: 'string', default: '300' },
      program: { type: 'string', default: 'dist/chainsieve.mjs' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return true
  }
  const program = resolve(values.program)
  if (!existsSync(program)) throw refuse('no_program', `${values.program} does not exist: build it with npm run build`)
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : number('seed', values.seed)
  const milliseconds = number('minutes', values.minutes) * MINUTE
  console.log(`--seed ${seed} --minutes ${values.minutes}`)
  const started = Date.now()
  const { samples, findings, counts } = await soak({
    ...{ program, milliseconds, seed },
    blockMs: number('block-time', values['block-time']),
    keep: number('keep-blocks', values['keep-blocks']),
    note: text => console.error(`${((Date.now() - started) / MINUTE).toFixed(1)} min: ${text}`),
  })
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify({ seed, counts, findings, samples }))
  const judgements = judge(samples, {
    warmMs: { life: Math.min(2 * MINUTE, milliseconds / 6), soak: milliseconds / 3 },
  })
  console.log(showSamples(samples))
  console.log(`\n${showChart(samples)}`)
  console.log(`\n${showJudgements(judgements)}`)
  const told = Object.entries(counts).map(([name, value]) => `${name} ${count(value)}`)
  console.log(`\n${told.join(', ')}; load ${loadavg()[1]!.toFixed(1)}`)
  for (const finding of findings.slice(0, SHOWN)) console.log(`found: ${finding}`)
  if (findings.length > SHOWN) console.log(`found: … and ${findings.length - SHOWN} more`)
  return findings.length === 0 && judgements.every(({ flat }) => flat)
}

const SHOWN = 20

const number = (name: string, text: string): number => {
  const value = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value
  throw refuse('bad_option', `--${name} takes a positive number, not ${JSON.stringify(text)}`)
}

if (import.meta.main) {
  main().then(
    held => process.exit(held ? 0 : 1),
    error => {
      console.error(messageOf(error))
      process.exit(2)
    },
  )
}

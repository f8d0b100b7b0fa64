import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { refuse } from '../../src/lib/errors.ts'
import { builtProgram, wholeNumber } from '../lib/flags.ts'
import type { Effort } from './searching.ts'

export const USAGE = `Measures how fast blocks go in, what they take on disk, and how fast queries are answered.

npm run bench -- [--events N] [--seed S] [--pack FILE] [--keep DIR | --data DIR] [--program FILE] [--json FILE] [--traces] [--quick]
npm run bench -- --against URL [--store opensearch [--only import]] [--events N] [--seed S] [--pack FILE] [--keep DIR] [--program FILE] [--json FILE] [--quick]

--events   logs of the made-up chain (default 1000000, with --against 300000; a million take 1.9 GB for the pack while they are read)
--seed     of the made-up chain (default 1)
--pack     reads this block pack instead of making one
--keep     data folder to fill and to leave; without it a temporary one
--data     data folder that is filled already: nothing is imported
--against  a running OpenSearch: fills it with the same documents and measures both, also aggregations. Its
           indices chainsieve-bench-block, -tx, -log and -event are replaced, and removed at the end
--store    with opensearch, --against is the cluster that holds our documents, too: measures what our server takes more
           than the cluster itself. The indices chainsieve-bench-ours-* and -bare-* are replaced, and removed at the end
--only     with import and --store opensearch, nothing but imports is measured
--program  what is measured (default dist/chainsieve.mjs; dist/chainsieve is the executable)
--json     where all figures go; - for standard output, in place of the table
--traces   imports the same blocks without their traces and with them, too (4.1 GB more for a million logs)
--quick    a few runs of everything: shows that all of it works, not how fast it is`

export interface Options {
  events: number
  seed: number
  pack: string | undefined
  keep: string | undefined
  data: string | undefined
  program: string
  /** URL of the OpenSearch that is measured beside ours. */
  against: string | undefined
  /** Where our documents lie. */
  store: 'sqlite' | 'opensearch'
  /** The one part that is measured over a cluster; undefined: all. */
  only: 'import' | undefined
  traces: boolean
  effort: BenchEffort
}

export interface BenchEffort extends Effort {
  starts: number
  idleMs: number
  imports: number
  rounds: number
  seconds: number
}

const FULL: BenchEffort = {
  runs: 400,
  budgetMs: 15_000,
  warmMs: 300,
  starts: 7,
  imports: 3,
  rounds: 3,
  seconds: 4,
  idleMs: 3000,
}
export const QUICK: BenchEffort = {
  ...{ runs: 20, budgetMs: 500, warmMs: 0, starts: 1, imports: 1 },
  ...{ rounds: 1, seconds: 0.2, idleMs: 100 },
}

export const readOptions = (args: string[]): { options: Options; json: string | undefined } | undefined => {
  const { values } = parseArgs({
    args,
    options: {
      events: { type: 'string' },
      seed: { type: 'string', default: '1' },
      pack: { type: 'string' },
      keep: { type: 'string' },
      data: { type: 'string' },
      against: { type: 'string' },
      store: { type: 'string', default: 'sqlite' },
      only: { type: 'string' },
      program: { type: 'string', default: 'dist/chainsieve.mjs' },
      json: { type: 'string' },
      traces: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const {
    pack,
    keep,
    data,
    against,
    json,
    traces,
    quick,
    events = against === undefined ? '1000000' : '300000',
  } = values
  if (data !== undefined && (keep !== undefined || pack !== undefined))
    throw refuse('bad_option', '--data measures a store that is filled already: leave --keep and --pack out')
  if (traces && (data !== undefined || pack !== undefined))
    throw refuse('bad_option', '--traces measures blocks that are made with traces: leave --data and --pack out')
  if (against !== undefined) {
    if (data !== undefined || traces)
      throw refuse('bad_option', '--against imports the same blocks into both: leave --data and --traces out')
    if (!URL.canParse(against) || new URL(against).protocol !== 'http:')
      throw refuse('bad_option', `--against takes a URL such as http://127.0.0.1:9200, not ${JSON.stringify(against)}`)
  }
  const { store } = values
  if (store !== 'sqlite' && store !== 'opensearch')
    throw refuse('bad_option', `--store takes sqlite or opensearch, not ${JSON.stringify(store)}`)
  if (store === 'opensearch' && against === undefined)
    throw refuse('bad_option', '--store opensearch needs a cluster: name it by --against URL')
  const { only } = values
  if (only !== undefined && (only !== 'import' || store !== 'opensearch'))
    throw refuse('bad_option', '--only takes import, with --store opensearch')
  const program = builtProgram(values.program)
  if (pack !== undefined && !existsSync(pack))
    throw refuse('no_pack', `${pack} is not there: leave --pack out to make one`)
  const options = {
    effort: quick ? QUICK : FULL,
    events: wholeNumber('events', events),
    seed: wholeNumber('seed', values.seed),
    ...{ pack, keep, data, program, traces },
    store: store as Options['store'],
    only: only as Options['only'],
    against: against?.replace(/\/+$/, ''),
  }
  return { options, json }
}

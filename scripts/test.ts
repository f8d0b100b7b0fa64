import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { type OpenSearch, startOpenSearch } from './opensearch/start.ts'

/**
 * Suites of test files. `main` is what every change is tested by; `long` has attacks, benchmarks, the soak, the console in a
 * browser, and what kills, fills and damages a running program; `opensearch` has all files with tests that need a running OpenSearch.
 */
const LONG =
  /^test\/(attack|bench|console|soak)\/|^test\/(search\/fairness|demo)\.test|^test\/e2e\/(alert-matrix|clock|crash|damage|data|disk|load|nodes|redecode)\.test/
const NEEDS_OPENSEARCH = /from '[^']*support\/(real-opensearch|cluster-fill)\.ts'/
const SUITES: Record<string, (file: string) => boolean> = {
  main: file => !LONG.test(file),
  long: file => LONG.test(file),
  opensearch: file => NEEDS_OPENSEARCH.test(readFileSync(file, 'utf8')),
}

/**
 * Runs a suite of tests with node's own runner, or with arguments all files whose path has one of them in it (`npm test -- decode`).
 * Tests that start the program start it from source; with `--built` they start `dist/chainsieve.mjs`, in less than half the time, and
 * with `--executable` `dist/chainsieve`.
 */
const { values, positionals: parts } = parseArgs({
  options: {
    suite: { type: 'string', default: 'main' },
    built: { type: 'boolean', default: false },
    executable: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const { suite } = values
const isInSuite = SUITES[suite]
if (isInSuite === undefined) {
  console.error(`There is no suite ${suite}: ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}
const files = globSync('test/**/*.test.ts')
  .map(file => file.replaceAll('\\', '/'))
  .filter(file => (parts.length === 0 ? isInSuite(file) : parts.some(part => file.includes(part))))
if (files.length === 0) {
  console.error(`No test file has ${parts.join(' or ')} in its name.`)
  process.exit(1)
}

const program = values.executable ? 'dist/chainsieve' : values.built ? 'dist/chainsieve.mjs' : undefined
if (program !== undefined && !existsSync(program)) {
  console.error(`There is no ${program}: run npm run build${values.executable ? ':executable' : ''} first.`)
  process.exit(1)
}

/** What is held to times, as that another client is answered meanwhile, has the machine for itself. */
const ALONE = /^test\/(attack\/(bodies|connections)|bench\/run|search\/fairness|soak\/soak|e2e\/load)\./
/** Programs, nodes and browsers: they wait for each other more than they compute. They do not run beside tests that only compute. */
const PROGRAMS = /^test\/(attack|bench|console|e2e)\/|^test\/(demo|deploy|docs)\.test\.ts$/

/** What Node has made of the sources: without it a third of the time goes there. Tests that start the program use it, too. */
const COMPILED = join(tmpdir(), `chainsieve-test-compiled-${process.getuid?.() ?? 0}`)

/**
 * The sources with a file for each role of a thread, as deep in the tree as they are. Tests start hundreds of threads, most of whose time
 * would go to reading hundreds of modules each.
 */
const bundleThreads = async (): Promise<string> => {
  const folder = 'dist/test'
  const { metafile } = await build({
    ...{ entryPoints: ['src/main.ts'], outdir: folder, bundle: true, splitting: true, format: 'esm' },
    ...{ platform: 'node', packages: 'external', metafile: true, logLevel: 'warning' },
    // No thread loads these, and what they share with others would be cut into a hundred parts.
    external: ['./app/cli/index.ts', './app/index.ts'],
  })
  // Parts of older sources.
  for (const file of globSync(`${folder}/*`)) if (!(file in metafile.outputs)) rmSync(file)
  return pathToFileURL(`${folder}/main.js`).href
}
const threads = await bundleThreads()
/** Runs in the process of each test file before it. */
const PRELOAD = `data:text/javascript,import{setEnvironmentData as s}from'node:worker_threads';s('threads','${threads}')`

/** Not a name of ours, which programs that inherit it would refuse as no setting. */
if (program !== undefined) process.env.TESTED_PROGRAM = resolve(program)
process.env.NODE_COMPILE_CACHE = COMPILED

/** Seconds per test file. */
const times = new Map<string, number>()

/** Runs test files, `concurrency` at a time. Returns whether all passed. */
const runFiles = async (some: readonly string[], concurrency: number): Promise<boolean> => {
  if (some.length === 0) return true
  let passed = true
  const events = run({
    files: some.toSorted().map(file => resolve(file)),
    concurrency,
    // It is for what hangs: a busy machine takes several times as long as a quiet one.
    timeout: 600_000,
    execArgv: [`--import=${PRELOAD}`],
    ...(opensearch && { signal: opensearch.ended }),
  })
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined) passed = false
  })
  events.on('test:summary', ({ file, duration_ms, success }) => {
    if (!success) passed = false
    if (file !== undefined) times.set(relative('.', file), duration_ms / 1000)
  })
  const report = events.compose(new spec())
  report.pipe(process.stdout, { end: false })
  await finished(report)
  return passed
}

/** The time of each suite (a folder of test files), and of the slowest files. */
const printTimes = () => {
  const suites = Map.groupBy(times, ([file]) => file.split('/').slice(0, -1).join('/'))
  const sum = (some: readonly [string, number][]) => some.reduce((total, [, seconds]) => total + seconds, 0)
  const line = (name: string, seconds: number) => console.log(`${seconds.toFixed(1).padStart(8)}  ${name}`)
  console.log('\nSeconds per suite, of files that run beside each other:')
  for (const [suite, some] of [...suites].sort(([, a], [, b]) => sum(b) - sum(a)))
    line(`${suite} (${some.length})`, sum(some))
  console.log('\nThe slowest files:')
  for (const [file, seconds] of [...times].sort(([, a], [, b]) => b - a).slice(0, 40)) line(file, seconds)
}

const kindOf = (file: string) => (ALONE.test(file) ? 'alone' : PROGRAMS.test(file) ? 'programs' : 'others')
const { others = [], programs = [], alone = [] } = Object.groupBy(files, kindOf)
const processors = availableParallelism()
/** One more than there are processors to compute: of so many files one mostly waits. */
const atOnce = processors + 1
let opensearch: OpenSearch | undefined
if (suite === 'opensearch' && process.env.OPENSEARCH_URL === undefined) {
  opensearch = await startOpenSearch()
  if (opensearch === undefined) process.exit(0)
  process.env.OPENSEARCH_URL = opensearch.url
  process.env.OPENSEARCH_START ??= resolve('scripts/opensearch/start')
  opensearch.ended.addEventListener('abort', () => console.error('OpenSearch ended, so its tests are given up.'))
}
const passed = [await runFiles(others, atOnce), await runFiles(programs, Math.min(3, atOnce)), await runFiles(alone, 1)]
opensearch?.stop()
if (times.size > 1) printTimes()
process.exitCode = passed.every(Boolean) ? 0 : 1

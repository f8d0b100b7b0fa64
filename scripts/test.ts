import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * Runs the whole test suite with node's own runner; arguments are file name parts that narrow it (`npm test -- decode`). With `--executable`,
 * tests that start the program start `dist/chainsieve`.
 */
const { values, positionals: parts } = parseArgs({
  options: { executable: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const files = globSync('test/**/*.test.ts').filter(
  file => parts.length === 0 || parts.some(part => file.includes(part)),
)
if (files.length === 0) {
  console.error(`No test file has ${parts.join(' or ')} in its name.`)
  process.exit(1)
}

/** Programs, nodes and browsers, and what is held to times, have the machine for themselves. */
const ALONE = /^test\/(attack|bench|console|e2e|soak|search\/(fairness|inline))|^test\/(demo|deploy|docs)\.test\.ts$/

/** Runs test files, so many at a time. */
const run = (some: readonly string[], atOnce: number): number => {
  if (some.length === 0) return 0
  const options = ['--test', '--test-timeout=300000', `--test-concurrency=${atOnce}`]
  const { status } = spawnSync(process.execPath, [...options, ...some.toSorted()], {
    stdio: 'inherit',
    env: { ...process.env, ...(values.executable && { CHAINSIEVE_PROGRAM: resolve('dist/chainsieve') }) },
  })
  return status ?? 1
}

const [alone, together] = [true, false].map(is => files.filter(file => ALONE.test(file) === is))
process.exit(Math.max(run(together!, availableParallelism()), run(alone!, 1)))

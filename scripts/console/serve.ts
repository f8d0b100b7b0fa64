import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/** The built program on the demo chain, with the token that it prints. */
export const serveBuilt = async (data: string) => {
  const server = spawn(process.execPath, ['dist/chainsieve.mjs', 'serve', '--port', '0', '--data', data])
  const ended = new Promise<void>(resolve => server.once('close', () => resolve()))
  const [url, token] = await Promise.all([
    hear(server.stderr, /Serves +url=(\S+)/),
    hear(server.stdout, /Token: (\S+)/),
  ])
  return {
    url,
    token,
    async stop() {
      server.kill()
      await ended
    },
  }
}

const hear = (stream: Readable, pattern: RegExp) =>
  new Promise<string>((resolve, reject) => {
    let said = ''
    stream.on('data', text => {
      said += String(text)
      const [, found] = pattern.exec(said) ?? []
      if (found) resolve(found)
    })
    stream.once('end', () => reject(new Error(`the server ended: ${said}`)))
  })

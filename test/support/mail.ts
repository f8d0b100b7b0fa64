import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail as it arrived. */
export interface Mail {
  to: string[]
  /** By names in lower case. */
  headers: Record<string, string>
  /** The parts of its body, decoded, by their type. */
  parts: Record<string, string>
}

/** A mail server on loopback that takes everything. */
export const startMailServer = async (t: {
  after(fn: () => unknown): void
}): Promise<{ url: string; mails: Mail[] }> => {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 50,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, callback) {
      let text = ''
      stream
        .setEncoding('utf8')
        .on('data', chunk => {
          text += chunk
        })
        .on('end', () => {
          mails.push({ to: envelope.rcptTo.map(({ address }) => address), ...read(text) })
          callback(null, 'queued')
        })
    },
  })
  server.on('error', () => {})
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>(resolve => void server.close(resolve)))
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, mails }
}

const read = (text: string): Omit<Mail, 'to'> => {
  const [headers, body] = entity(text)
  const [, boundary] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  if (boundary === undefined) return { headers, parts: { [typeOf(headers)]: decode(headers, body) } }
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map(part => entity(part.replace(/^\r\n/, '')))
  return { headers, parts: Object.fromEntries(parts.map(([inner, it]) => [typeOf(inner), decode(inner, it)])) }
}

const entity = (text: string): [headers: Record<string, string>, body: string] => {
  const end = text.indexOf('\r\n\r\n')
  const lines = text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  const headers = lines.map(line => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ])
  return [Object.fromEntries(headers), text.slice(end + 4)]
}

const typeOf = (headers: Record<string, string>): string => /^[\w/-]*/.exec(headers['content-type'] ?? 'text/plain')![0]

const decode = (headers: Record<string, string>, body: string): string => {
  const encoding = headers['content-transfer-encoding']?.toLowerCase()
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? Buffer.from(
            body
              .replace(/=\r\n/g, '')
              .replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          )
        : Buffer.from(body)
  return bytes.toString().replaceAll('\r\n', '\n')
}

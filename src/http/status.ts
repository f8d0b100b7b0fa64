import type { Status } from '../ingest/status.ts'
import type { Handler } from './context.ts'
import { json } from './json.ts'

/** `GET /status` */
export const status =
  (service: () => Status | Promise<Status>): Handler =>
  async () =>
    json(await service())

/** `GET /health`: open to everybody, so it tells nothing but that the server answers. */
export const health: Handler = () => json({ status: 'ok' })

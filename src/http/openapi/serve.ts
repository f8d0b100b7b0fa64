import { lazy } from '../../lib/lazy.ts'
import type { Handler } from '../context.ts'
import { JSON_TYPE } from '../json.ts'
import { describeApi, type Has } from './index.ts'
import { PAGE_HEADERS, pageOf } from './page.ts'

/** `GET /openapi.json` and `GET /openapi`: open to everybody, for they tell what the docs tell. */
export const openApi = (has: Has): { json: Handler; page: Handler } => {
  const api = lazy(() => describeApi(has))
  const text = lazy(() => JSON.stringify(api()))
  const page = lazy(() => pageOf(api()))
  return {
    json: () => new Response(text(), { headers: JSON_TYPE }),
    page: () => new Response(page(), { headers: PAGE_HEADERS }),
  }
}

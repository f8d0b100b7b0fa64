import { useState } from 'preact/hooks'
import { ApiError, messageOf } from '../api/client.ts'
import { rootUrl, session, signIn, useStore } from '../browser/state.ts'
import { Field, Form } from '../parts/controls.tsx'
import { Logo } from '../parts/icon.tsx'

export const SignIn = () => {
  const { reason } = useStore(session)
  const [token, setToken] = useState('')
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)

  const submit = async () => {
    const given = token.trim()
    if (!TOKEN_FORMAT.test(given)) return setError('This is not a token. Tokens begin with cs_.')
    setBusy(true)
    try {
      await checkToken(given)
      signIn(given)
    } catch (error) {
      setError(messageOf(error))
    } finally {
      setBusy(false)
    }
  }

  return (
    <main class="sign-in">
      <h1 class="brand">
        <Logo />
        Chainsieve
      </h1>
      {reason !== undefined && <p class="fault">You were signed out: {reason}</p>}
      <Form onSubmit={submit}>
        <Field label="Token" error={error} hint="The token stays in this tab, until you close it or sign out.">
          {field => (
            <input
              {...field}
              type="password"
              autocomplete="off"
              value={token}
              onInput={event => setToken(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit" class="main" disabled={busy}>
          Sign in
        </button>
      </Form>
      <p class="dim">
        The demo server and <code>chainsieve dev</code> print a token when they start. Otherwise the operator creates
        one: <code>chainsieve token create --account NAME</code>
      </p>
    </main>
  )
}

const TOKEN_FORMAT = /^cs_[\w-]+$/

/** Not by `callApi`, which would end a session. */
const checkToken = async (token: string) => {
  const response = await fetch(`${rootUrl}status`, { headers: { authorization: `Bearer ${token}` } }).catch(() => {
    throw new ApiError(0, 'no_answer', 'The server does not answer. Try again in a moment.')
  })
  if (response.ok) return
  if (response.status !== 401) throw new Error(`The server answered ${response.status}. Try again in a moment.`)
  throw new Error('The token is not valid: it is unknown, expired or revoked. Ask the operator for another one.')
}

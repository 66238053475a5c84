// Preloaded. All dispatchers inherit `dispatch()` from one class. Of those that call each other, the outermost has the interceptor, as if it were composed.
import { serviceAuthInterceptor } from '@service-auth/undici';
import { Agent, type Dispatcher } from 'undici';
import { auth } from './auth.ts';

const base: Dispatcher = Object.getPrototypeOf(Agent.prototype);
const original = base.dispatch;
const intercept = serviceAuthInterceptor(auth);
const isUrl = (key: symbol) => key.description === 'url';
let isInside = false;

base.dispatch = function dispatch(options, handler) {
  const send: Dispatcher.Dispatch = (...sent) => {
    const wasInside = isInside;
    isInside = true;
    try {
      return original.apply(this, sent);
    } finally {
      isInside = wasInside;
    }
  };
  if (isInside || !options || !handler) return send(options, handler);
  // The interceptor needs the origin, as its README says. A Client and a Pool have one.
  const key = Object.getOwnPropertySymbols(this).find(isUrl);
  const origin = options.origin ?? (key && (this as never as Record<symbol, URL>)[key]?.origin);
  return intercept(send)(origin ? { ...options, origin } : options, handler);
};

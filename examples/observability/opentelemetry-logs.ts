// Writes the events of a client as log records of OpenTelemetry.
import { type Attributes, type LoggerProvider, logs, SeverityNumber } from '@opentelemetry/api';
import { eventLevel, type ServiceAuth } from '@service-auth/core';

const severities = { debug: 'DEBUG', info: 'INFO', warn: 'WARN', error: 'ERROR' } as const;

export function logEvents(auth: ServiceAuth, provider: LoggerProvider = logs.getLoggerProvider()): () => void {
  const logger = provider.getLogger('service-auth');
  return auth.subscribe((event) => {
    const { type, at, ...fields } = event;
    const severityText = severities[eventLevel(event)];
    const severityNumber = SeverityNumber[severityText];
    const attributes = fields as unknown as Attributes;
    logger.emit({ eventName: `service_auth.${type}`, timestamp: at, severityNumber, severityText, attributes });
  });
}

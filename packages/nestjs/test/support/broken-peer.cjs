throw new Error('broken peer');
